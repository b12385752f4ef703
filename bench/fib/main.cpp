// SPDX-License-Identifier: BSL-1.0
// fib(36) with a task at each level: plait, oneTBB task_group, OpenMP tasks and plain calls, in turns within one run.
//
//   bench_fib [--n 36] [--repeat 5] [--workers 2] [--only serial,plait] [--json]
#include "../support/arguments.hpp"
#include "../support/report.hpp"
#include "problem.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

struct competitor {
  std::string name;
  double (*run)(int n, int workers);
  bool parallel;
};

struct series {
  competitor who;
  int workers;
  std::vector<double> times = {};
};

std::vector<competitor> competitors() {
  return {
    {"serial", fib::run_serial, false}, {"plait", fib::run_plait, true},
#if BENCH_HAVE_ONETBB
        {"onetbb", fib::run_onetbb, true},
#endif
#if BENCH_HAVE_OPENMP
        {"openmp", fib::run_openmp, true},
#endif
  };
}

bool chosen(const std::string& list, const std::string& name) {
  return list.empty() || (',' + list + ',').find(',' + name + ',') != std::string::npos;
}

int measure(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const int n = args.number("--n", 36);
  const int repeat = args.number("--repeat", 5);
  const int most_workers = args.number("--workers", 2);
  const std::string only = args.text("--only", "");
  const bool json = args.flag("--json");
  args.done("--n N, --repeat N, --workers N, --only serial,plait,onetbb,openmp, --json");

  std::vector<series> all;
  for (int workers = 1; workers <= most_workers; ++workers) {
    for (const competitor& c : competitors()) {
      if (chosen(only, c.name) && (c.parallel || workers == 1)) all.push_back({c, workers});
    }
  }
  for (int round = 0; round < repeat; ++round) {
    for (series& s : all) {
      // Idle threads of the one before may spin for a while: OpenMP's do so for up to 0.2 s.
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      s.times.push_back(s.who.run(n, s.workers));
    }
  }

  const auto median_of = [&](const std::string& name, int workers) {
    for (const series& s : all) {
      if (s.who.name == name && s.workers == workers) return bench::median(s.times);
    }
    return 0.0;
  };
  bench::report report("fib", json);
  for (const series& s : all) {
    const double middle = bench::median(s.times);
    const double peer = median_of("onetbb", s.workers);
    report.add({{"variant", s.who.name},
                {"workers", static_cast<long>(s.workers)},
                {"n", static_cast<long>(n)},
                {"median_s", middle, 4},
                {"min_s", bench::quantile(s.times, 0), 4},
                {"max_s", bench::quantile(s.times, 1), 4},
                {"ns_per_call", middle * 1e9 / static_cast<double>(fib::calls(n)), 2},
                {"of_onetbb", peer > 0 ? middle / peer : 0, 3}});
  }
  report.note("medians of " + std::to_string(repeat) + " runs in turns; every result was checked");
  report.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fib: %s\n", e.what());
    return 1;
  }
}
