// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/function_ref.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/dist/node.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// What one worker has done since its runtime began.
struct worker_statistics {
  int worker;              ///< counted over all ranks
  std::uint64_t executed;  ///< submitted tasks that it ran
  std::uint64_t stolen;    ///< jobs that it took from other workers of its rank
  std::uint64_t imported;  ///< of `executed`: those that came from another rank
};

namespace dist {

/// This rank's workers, by their local numbers.
template <class Statistics = worker_statistics>  // a template so that only programs that use it pay for it
std::vector<Statistics> local_statistics(node& home) {
  std::vector<Statistics> all;
  for (unsigned i = 0; i < home.pool().size(); ++i) {
    const auto& c = home.pool().at(i).counters;
    all.push_back({home.numbers().first_of(home.rank()) + static_cast<int>(i), c.executed.read(), c.stolen.read(),
                   c.imported.read()});
  }
  return all;
}

/// Collective, between runs. One value of each worker of all ranks, by number: `own(i)` gives that of local worker i.
inline base::growing_array<std::uint64_t> gather_of_workers(node& home, function_ref<std::uint64_t(unsigned)> own) {
  base::growing_array<std::uint64_t> all;
  all.resize(static_cast<std::size_t>(home.numbers().count()));
  int most = 0;
  for (int r = 0; r < home.size(); ++r) most = home.numbers().of(r) > most ? home.numbers().of(r) : most;
  for (int i = 0; i < most; ++i) {
    const bool have = i < home.numbers().of(home.rank());
    const auto values =
        home.transport().gather_all(have ? static_cast<std::int64_t>(own(static_cast<unsigned>(i))) : 0);
    for (int r = 0; r < home.size(); ++r) {
      if (i >= home.numbers().of(r)) continue;
      all[static_cast<std::size_t>(home.numbers().first_of(r) + i)] =
          static_cast<std::uint64_t>(values[static_cast<std::size_t>(r)]);
    }
  }
  return all;
}

/// Collective, between runs: rank 0 prints the table that PLAIT_STATS=1 asks for.
inline void print_statistics(std::FILE* out, node& home) {
  const auto counters = [&home](unsigned i) -> const obs::worker_counters& { return home.pool().at(i).counters; };
  const auto executed = gather_of_workers(home, [&](unsigned i) { return counters(i).executed.read(); });
  const auto stolen = gather_of_workers(home, [&](unsigned i) { return counters(i).stolen.read(); });
  const auto imported = gather_of_workers(home, [&](unsigned i) { return counters(i).imported.read(); });
  if (home.rank() != 0) return;
  std::string text =
      "plait: submitted tasks since the runtime began\nplait: rank worker   executed   imported     stolen\n";
  const auto line = [&text](const char* who, std::uint64_t ran, std::uint64_t came, std::uint64_t took) {
    char numbers[128];
    std::snprintf(numbers, sizeof numbers, "plait: %s %10llu %10llu %10llu\n", who,
                  static_cast<unsigned long long>(ran), static_cast<unsigned long long>(came),
                  static_cast<unsigned long long>(took));
    text += numbers;
  };
  std::uint64_t total[3] = {};
  for (std::size_t w = 0; w < executed.size(); ++w) {
    char who[40];
    std::snprintf(who, sizeof who, "%4d %6d", home.numbers().rank_of(static_cast<int>(w)), static_cast<int>(w));
    line(who, executed[w], imported[w], stolen[w]);
    total[0] += executed[w];
    total[1] += imported[w];
    total[2] += stolen[w];
  }
  line("      total", total[0], total[1], total[2]);
  std::fputs(text.c_str(), out);
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
