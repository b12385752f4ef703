// SPDX-License-Identifier: BSL-1.0
// The round trip of a task that does nothing on another rank, in turns with a raw MPI ping-pong at the same thread
// level.
//
//   mpirun -n 2 bench_remote_task [--count 20000] [--repeat 5] [--idle-count 300] [--workers 1] [--json]
#include "../support/arguments.hpp"
#include "../support/native_mpi.hpp"
#include "../support/report.hpp"
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <string>

namespace {

void append(remote_task::samples& all, const remote_task::samples& some) {
  all.insert(all.end(), some.begin(), some.end());
}

void add_row(bench::report& report, const char* variant, const remote_task::samples& times, double raw_median) {
  report.add({{"variant", std::string(variant)},
              {"samples", static_cast<long>(times.size())},
              {"p50_us", bench::quantile(times, 0.5), 2},
              {"p90_us", bench::quantile(times, 0.9), 2},
              {"p99_us", bench::quantile(times, 0.99), 2},
              {"p50_of_raw", bench::quantile(times, 0.5) / raw_median, 2}});
}

void measure(int argc, char** argv, int rank) {
  bench::arguments args(argc, argv);
  const int count = args.number("--count", 20'000);
  const int repeat = args.number("--repeat", 5);
  const int idle_count = args.number("--idle-count", 300);
  const int workers = args.number("--workers", 1);
  const bool json = args.flag("--json");
  args.done("--count N, --repeat N, --idle-count N, --workers N, --json");

  plait::options options;
  options.workers = workers;
  plait::runtime rt{MPI_COMM_WORLD, options};
  remote_task::samples raw;
  remote_task::samples task;
  for (int round = 0; round <= repeat; ++round) {
    const remote_task::samples r = remote_task::run_raw_mpi(count);
    const remote_task::samples t = remote_task::run_plait(rt, count);
    if (round == 0) continue;  // the first round warms up
    append(raw, r);
    append(task, t);
  }
  const auto pause = std::chrono::milliseconds(100);
  const remote_task::samples idle = remote_task::run_plait_after_idleness(rt, idle_count, pause);

  if (rank != 0) return;
  bench::report report("remote_task", json);
  const double raw_median = bench::quantile(raw, 0.5);
  add_row(report, "raw MPI ping-pong", raw, raw_median);
  add_row(report, "plait, ranks awake", task, raw_median);
  add_row(report, "plait, after 100 ms idle", idle, raw_median);
  report.note("round trips between ranks 0 and 1, " + std::to_string(workers) + " worker(s) a rank");
  report.print();
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main("bench_remote_task", argc, argv, 2, measure); }
