// SPDX-License-Identifier: BSL-1.0
// Small tasks per second to another rank, with their results awaited, in turns with the rate of raw MPI messages.
//
//   mpirun -n 2 bench_task_rate [--count 1000000] [--window 10000] [--repeat 5] [--workers 1] [--json]
#include "../support/arguments.hpp"
#include "../support/native_mpi.hpp"
#include "../support/report.hpp"
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

void measure(int argc, char** argv, int rank) {
  bench::arguments args(argc, argv);
  const int count = args.number("--count", 1'000'000);
  const int window = args.number("--window", 10'000);
  const int repeat = args.number("--repeat", 5);
  const int workers = args.number("--workers", 1);
  const bool json = args.flag("--json");
  args.done("--count N, --window N, --repeat N, --workers N, --json");

  plait::options options;
  options.workers = workers;
  plait::runtime rt{MPI_COMM_WORLD, options};
  const int raw_window = std::min(window, 64);  // what MPI programs usually keep in flight
  std::vector<double> raw;
  std::vector<double> tasks;
  task_rate::run_raw_mpi(std::min(count, 100'000), raw_window);
  task_rate::run_plait(rt, std::min(count, 100'000), window);
  for (int round = 0; round < repeat; ++round) {
    raw.push_back(task_rate::run_raw_mpi(count, raw_window));
    tasks.push_back(task_rate::run_plait(rt, count, window));
  }
  if (rank != 0) return;

  const double raw_rate = count / bench::median(raw) / 1e6;
  const double rate = count / bench::median(tasks) / 1e6;
  bench::report report("task_rate", json);
  report.add({{"variant", "raw MPI messages"},
              {"count", static_cast<long>(count)},
              {"window", static_cast<long>(raw_window)},
              {"millions_per_s", raw_rate, 3},
              {"of_raw", 1, 3}});
  report.add({{"variant", "plait tasks"},
              {"count", static_cast<long>(count)},
              {"window", static_cast<long>(window)},
              {"millions_per_s", rate, 3},
              {"of_raw", rate / raw_rate, 3}});
  report.note("medians of " + std::to_string(repeat) + " runs in turns; a task is a message there and a result back");
  report.print();
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main("bench_task_rate", argc, argv, 2, measure); }
