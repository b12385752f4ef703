// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/node.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

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
inline std::vector<worker_statistics> local_statistics(node& home) {
  std::vector<worker_statistics> all;
  for (unsigned i = 0; i < home.pool().size(); ++i) {
    const auto& c = home.pool().at(i).counters;
    all.push_back({home.first_worker() + static_cast<int>(i), c.executed.read(), c.stolen.read(), c.imported.read()});
  }
  return all;
}

/// Collective, between runs: the workers of all ranks, by number, on every rank.
inline std::vector<worker_statistics> all_statistics(node& home) {
  auto& transport = home.transport();
  const auto own = local_statistics(home);
  const auto counts = transport.gather_all(static_cast<std::int64_t>(own.size()));
  std::vector<std::vector<worker_statistics>> ranks;
  for (const auto count : counts) ranks.emplace_back(static_cast<std::size_t>(count));
  const auto most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  const auto gather = [&](std::size_t i, auto member) {
    const auto values = transport.gather_all(i < own.size() ? static_cast<std::int64_t>(own[i].*member) : 0);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (i < ranks[r].size())
        ranks[r][i].*member = static_cast<std::remove_cvref_t<decltype(own[i].*member)>>(values[r]);
    }
  };
  for (std::size_t i = 0; i < most; ++i) {
    gather(i, &worker_statistics::worker);
    gather(i, &worker_statistics::executed);
    gather(i, &worker_statistics::stolen);
    gather(i, &worker_statistics::imported);
  }
  std::vector<worker_statistics> all;
  for (const auto& workers : ranks) all.insert(all.end(), workers.begin(), workers.end());
  return all;
}

/// The table that PLAIT_STATS=1 prints after each run.
inline void print_statistics(std::FILE* out, const std::vector<worker_statistics>& workers, const node& home) {
  std::string text =
      "plait: submitted tasks since the runtime began\nplait: rank worker   executed   imported     stolen\n";
  const auto line = [&text](const std::string& who, const worker_statistics& s) {
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, " %10llu %10llu %10llu\n", static_cast<unsigned long long>(s.executed),
                  static_cast<unsigned long long>(s.imported), static_cast<unsigned long long>(s.stolen));
    text += "plait: " + who + numbers;
  };
  worker_statistics total{};
  for (const auto& s : workers) {
    char who[40];
    std::snprintf(who, sizeof who, "%4d %6d", home.rank_of_worker(s.worker), s.worker);
    line(who, s);
    total.executed += s.executed;
    total.imported += s.imported;
    total.stolen += s.stolen;
  }
  line("      total", total);
  std::fputs(text.c_str(), out);
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
