// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "arguments.hpp"
#include "in_child.hpp"
#include "report.hpp"
#include "statistics.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// A peer's function, or null where the peer is not installed.
#if BENCH_HAVE_ONETBB
#define BENCH_ONETBB(run) run
#else
#define BENCH_ONETBB(run) nullptr
#endif
#if BENCH_HAVE_OPENMP
#define BENCH_OPENMP(run) run
#else
#define BENCH_OPENMP(run) nullptr
#endif

namespace bench {

/// Who solves a problem. `run(n, workers)` solves it once, of the size n, with so many workers that were started
/// before, and gives the seconds it took. It throws where the result is wrong: that has no time.
struct competitor {
  std::string name;
  double (*run)(int n, int workers);  ///< null: not installed
  bool parallel = true;               ///< else it runs with one worker only
};

/// What is measured.
struct problem {
  std::string name;
  std::vector<int> sizes;  ///< each is measured, unless --n asks for another
  std::string unit;        ///< what there are many of in a run
  double (*units)(int n);  ///< how many
  std::vector<competitor> competitors;
};

/// Times one call of `compute`, which must give `expected`.
template <class Result, class Compute>
double timed(const Result& expected, Compute&& compute) {
  const double start = seconds();
  const Result result = compute();
  const double elapsed = seconds() - start;
  if (result != expected) {
    throw std::runtime_error("the result is " + std::to_string(result) + " and should be " + std::to_string(expected));
  }
  return elapsed;
}

namespace detail {

/// The runs of one competitor with one size and one number of workers.
struct series {
  competitor who;
  int n;
  int workers;
  std::vector<double> times = {};
  std::vector<double> cpu_times = {};
  std::vector<double> peaks = {};

  double time() const { return median(times); }

  /// Once more, unless a run has taken longer than `patience` seconds.
  void run(int warm_ups, int patience) {
    if (!times.empty() && times.front() > patience) return;
    try {
      const cost c = in_child([this] { return who.run(n, workers); }, warm_ups);
      times.push_back(c.seconds);
      cpu_times.push_back(c.cpu_seconds);
      peaks.push_back(c.peak_mib);
    } catch (const std::exception& e) {
      throw std::runtime_error(who.name + " with n = " + std::to_string(n) + " and " + std::to_string(workers) +
                               " workers: " + e.what());
    }
  }
};

inline bool chosen(const std::string& list, const std::string& name) {
  return list.empty() || (',' + list + ',').find(',' + name + ',') != std::string::npos;
}

/// The runs of another with the same size as `mine` and so many workers, or null.
inline const series* find(const std::vector<series>& all, const series& mine, std::string_view name, int workers) {
  for (const series& s : all) {
    if (s.who.name == name && s.n == mine.n && s.workers == workers) return &s;
  }
  return nullptr;
}

/// This time as a part of another's with the same size and `workers`, or 0 if there is no such.
inline double part_of(const std::vector<series>& all, const series& mine, std::string_view name, int workers) {
  const series* const other = find(all, mine, name, workers);
  return other == nullptr ? 0 : mine.time() / other->time();
}

/// The same for the peak of memory.
inline double peak_part_of(const std::vector<series>& all, const series& mine, std::string_view name, int workers) {
  const series* const other = find(all, mine, name, workers);
  return other == nullptr ? 0 : median(mine.peaks) / median(other->peaks);
}

inline void print(const problem& what, const std::vector<series>& all, bool json, const std::string& note) {
  report table(what.name, json);
  for (const series& s : all) {
    const double alone = part_of(all, s, s.who.name, 1);
    table.add({{"variant", s.who.name},
               {"workers", static_cast<long>(s.workers)},
               {"n", static_cast<long>(s.n)},
               {"runs", static_cast<long>(s.times.size())},
               {"median_s", s.time(), 4},
               {"min_s", quantile(s.times, 0), 4},
               {"max_s", quantile(s.times, 1), 4},
               {"cpu_s", median(s.cpu_times), 4},
               {"ns_per_" + what.unit, s.time() * 1e9 / what.units(s.n), 2},
               {"speedup", alone > 0 ? 1 / alone : 0, 2},
               {"of_onetbb", part_of(all, s, "onetbb", s.workers), 3},
               {"of_openmp", part_of(all, s, "openmp", s.workers), 3},
               {"peak_mib", median(s.peaks), 1},
               {"peak_of_onetbb", peak_part_of(all, s, "onetbb", s.workers), 2}});
  }
  table.note(note);
  table.print();
}

inline void hold(const problem& what, int argc, char** argv) {
  arguments args(argc, argv);
  const int n = args.number("--n", what.sizes.front());
  const int repeat = args.number("--repeat", 5);
  const int patience = args.number("--patience", 4);
  const int most_workers = args.number("--workers", 2);
  const std::string only = args.text("--only", "");
  const bool warm = args.flag("--warm");
  const bool json = args.flag("--json");
  std::string names;
  for (const competitor& c : what.competitors) names += (names.empty() ? "" : ",") + c.name;
  args.done("--n N, --repeat N, --patience S, --workers N, --only " + names + ", --warm, --json");

  std::vector<series> all;
  for (const int size : n == what.sizes.front() ? what.sizes : std::vector<int>{n}) {
    for (int workers = 1; workers <= most_workers; ++workers) {
      for (const competitor& c : what.competitors) {
        if (c.run == nullptr || (workers > 1 && !c.parallel) || !chosen(only, c.name)) continue;
        all.push_back({c, size, workers});
      }
    }
  }
  for (int round = 0; round < repeat; ++round) {
    for (series& s : all) s.run(warm ? 1 : 0, patience);
  }
  print(what, all, json,
        "medians of " + std::to_string(repeat) + " runs in turns (of one that takes longer than " +
            std::to_string(patience) + " s, only one), each in a process of its own" +
            (warm ? ", whose second run it is" : "") + "; every result was checked");
}

}  // namespace detail

/// The main program of a problem: measures all in turns and prints a row for each. Gives the exit code.
///
///   --n N           this size only
///   --repeat N      rounds, 5 if not given
///   --patience S    who takes longer than so many seconds runs in the first round only, 4 if not given
///   --workers N     1 to so many, 2 if not given
///   --only A,B      these competitors only
///   --warm          measures the second run in each process
///   --json          one object a line
inline int contest(const problem& what, int argc, char** argv) {
  try {
    detail::hold(what, argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", what.name.c_str(), e.what());
    return 1;
  }
}

}  // namespace bench
