// SPDX-License-Identifier: BSL-1.0
// An idle pool: what it costs, and how long a job that is posted to it from outside takes until it runs.
//
//   bench_wake_up [--count 1000] [--repeat 2] [--seconds 2] [--workers 2] [--only plait,onetbb] [--json]
#include "../support/arguments.hpp"
#include "../support/contest.hpp"
#include "../support/in_child.hpp"
#include "../support/report.hpp"
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Memory that a child shares with its parent.
class shared_numbers {
 public:
  explicit shared_numbers(std::size_t count) : count_(count) {
    void* const memory =
        mmap(nullptr, count * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    first_ = static_cast<double*>(memory);
  }
  shared_numbers(const shared_numbers&) = delete;
  shared_numbers& operator=(const shared_numbers&) = delete;
  ~shared_numbers() { munmap(first_, count_ * sizeof(double)); }
  double& operator[](std::size_t i) { return first_[i]; }

 private:
  std::size_t count_;
  double* first_ = nullptr;
};

struct party {
  std::string name;
  void (*with)(int workers, const std::function<void(const wake_up::post&)>& use);  ///< null: not installed
  int workers;
  wake_up::samples times = {};
  std::vector<double> idle_percents = {};
  std::vector<double> peaks = {};
};

double processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return bench::detail::cpu_seconds(used);
}

/// In a process of its own: is idle, then posts `count` times to what has fallen asleep.
void measure(party& who, int count, int seconds) {
  shared_numbers told(static_cast<std::size_t>(count) + 1);
  const bench::cost cost = bench::in_child(
      [&] {
        const double begin = bench::seconds();
        who.with(who.workers, [&](const wake_up::post& post) {
          post();  // threads exist from here on
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          const double before = processor_time();
          const double from = bench::seconds();
          std::this_thread::sleep_for(std::chrono::seconds(seconds));
          told[0] = 100 * (processor_time() - before) / (bench::seconds() - from);
          for (int i = 1; i <= count; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            const double start = bench::seconds();
            const double ran = post();
            if (ran < start) throw std::runtime_error("a job has run before it was posted");
            told[static_cast<std::size_t>(i)] = (ran - start) * 1e6;
          }
        });
        return bench::seconds() - begin;
      },
      0);
  who.idle_percents.push_back(told[0]);
  for (int i = 1; i <= count; ++i) who.times.push_back(told[static_cast<std::size_t>(i)]);
  who.peaks.push_back(cost.peak_mib);
}

void hold(int argc, char** argv) {
  bench::arguments args(argc, argv);
  const int count = args.number("--count", 1000);
  const int repeat = args.number("--repeat", 2);
  const int seconds = args.number("--seconds", 2);
  const int most_workers = args.number("--workers", 2);
  const std::string only = args.text("--only", "");
  const bool json = args.flag("--json");
  args.done(
      "--count N, --repeat N, --seconds N, --workers N, --only plait,onetbb,condition_variable,atomic_wait, --json");

  std::vector<party> all;
  const auto add = [&](const party& p) {
    if (p.with != nullptr && bench::detail::chosen(only, p.name)) all.push_back(p);
  };
  for (int workers = 1; workers <= most_workers; ++workers) {
    add({"plait", wake_up::with_plait, workers});
    add({"onetbb", BENCH_ONETBB(wake_up::with_onetbb), workers});
  }
  add({"condition_variable", wake_up::with_condition_variable, 1});
  add({"atomic_wait", wake_up::with_atomic_wait, 1});
  for (int round = 0; round < repeat; ++round) {
    for (party& p : all) measure(p, (count + repeat - 1) / repeat, seconds);
  }

  bench::report report("wake_up", json);
  for (const party& p : all) {
    report.add({{"variant", p.name},
                {"workers", static_cast<long>(p.workers)},
                {"samples", static_cast<long>(p.times.size())},
                {"p50_us", bench::quantile(p.times, 0.5), 1},
                {"p90_us", bench::quantile(p.times, 0.9), 1},
                {"p99_us", bench::quantile(p.times, 0.99), 1},
                {"idle_percent", bench::median(p.idle_percents), 3},
                {"peak_mib", bench::median(p.peaks), 1}});
  }
  report.note("from posting a job to an idle party until it runs; processor time of one core while it was idle for " +
              std::to_string(seconds) + " s");
  report.print();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    hold(argc, argv);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wake_up: %s\n", e.what());
    return 1;
  }
}
