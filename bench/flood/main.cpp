// SPDX-License-Identifier: BSL-1.0
// Memory of two ranks when one submits tasks to the other much faster than that executes them: the peak of each rank
// beyond what it had before, and what the tasks themselves take where they were submitted.
//
//   mpirun -n 2 bench_flood [--count 1000000] [--bytes 1024] [--task_ns 2000] [--workers 1] [--json]
#include "../support/arguments.hpp"
#include "../support/native_mpi.hpp"
#include "../support/report.hpp"
#include "../support/statistics.hpp"

#include <plait/plait.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

double peak_mib() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_maxrss) / 1024;  // Linux counts KiB
}

long slow_size(std::string text, int ns) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
  while (std::chrono::steady_clock::now() < end) {
  }
  return static_cast<long>(text.size());
}

struct outcome {
  long total;
  double submitting;
  double all;
};

/// Submits all of them, then waits for each.
plait::task<outcome> flood(int count, int bytes, int ns) {
  const double start = bench::seconds();
  std::vector<plait::future<long>> futures;
  futures.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    futures.push_back(
        plait::submit<slow_size>(plait::on_rank(1), std::string(static_cast<std::size_t>(bytes), 'x'), ns));
  const double submitted = bench::seconds();
  long total = 0;
  for (auto& f : futures) total += co_await f;
  co_return outcome{total, submitted - start, bench::seconds() - start};
}

void measure(int argc, char** argv, int rank) {
  bench::arguments args(argc, argv);
  const int count = args.number("--count", 1000000);
  const int bytes = args.number("--bytes", 1024);
  const int ns = args.number("--task_ns", 2000);
  const int workers = args.number("--workers", 1);
  const bool json = args.flag("--json");
  args.done("--count N, --bytes N, --task_ns N, --workers N, --json");

  plait::options options;
  options.workers = workers;
  plait::runtime rt{MPI_COMM_WORLD, options};
  const double before = peak_mib();
  const auto done = rt.run([=] { return flood(count, bytes, ns); });
  if (done && done->total != static_cast<long>(count) * bytes)
    throw std::runtime_error("a task was lost, or ran twice");
  const double own = peak_mib() - before;
  std::vector<double> all(static_cast<std::size_t>(rt.size()));
  MPI_Gather(&own, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  bench::report report("flood", json);
  for (int r = 0; r < rt.size(); ++r) {
    report.add({{"rank", static_cast<long>(r)},
                {"role", r == 0   ? "submits"
                         : r == 1 ? "executes"
                                  : "idle"},
                {"peak_MiB", all[static_cast<std::size_t>(r)], 1},
                {"arguments_MiB", static_cast<double>(count) * bytes / (1024 * 1024), 1},
                {"submitting_s", done->submitting, 3},
                {"all_s", done->all, 3}});
  }
  report.note("memory beyond that before the run; the arguments are those of all tasks");
  report.print();
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main("bench_flood", argc, argv, 2, measure); }
