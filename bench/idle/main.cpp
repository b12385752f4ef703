// SPDX-License-Identifier: BSL-1.0
// What idle ranks cost: rank 0 runs one task that sleeps in the operating system, the others have nothing to do. Each
// rank's processor time during the run, all threads of its process, as a share of one core.
//
//   mpirun -n 2 bench_idle [--seconds 5] [--workers 1] [--json]
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
#include <thread>
#include <vector>

namespace {

double to_seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

struct usage {
  double user;
  double system;
  double wall;
};

usage now() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return {to_seconds(u.ru_utime), to_seconds(u.ru_stime), bench::seconds()};
}

plait::task<int> sleep_in_the_system(int seconds) {
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  co_return seconds;
}

void measure(int argc, char** argv, int rank) {
  bench::arguments args(argc, argv);
  const int seconds = args.number("--seconds", 5);
  const int workers = args.number("--workers", 1);
  const bool json = args.flag("--json");
  args.done("--seconds N, --workers N, --json");

  plait::options options;
  options.workers = workers;
  plait::runtime rt{MPI_COMM_WORLD, options};
  const usage before = now();
  const bool good = rt.run([=] { return sleep_in_the_system(seconds); }).value_or(seconds) == seconds;
  const usage after = now();
  if (!good || after.wall - before.wall < seconds) throw std::runtime_error("the run ended before its task");

  const double own[3] = {after.user - before.user, after.system - before.system, after.wall - before.wall};
  std::vector<double> all(static_cast<std::size_t>(3 * rt.size()));
  MPI_Gather(own, 3, MPI_DOUBLE, all.data(), 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  bench::report report("idle", json);
  for (int r = 0; r < rt.size(); ++r) {
    const double* of_rank = &all[static_cast<std::size_t>(3 * r)];
    report.add({{"rank", static_cast<long>(r)},
                {"role", r == 0 ? "task sleeps" : "idle"},
                {"wall_s", of_rank[2], 3},
                {"user_ms", of_rank[0] * 1e3, 2},
                {"system_ms", of_rank[1] * 1e3, 2},
                {"percent_of_core", 100 * (of_rank[0] + of_rank[1]) / of_rank[2], 3}});
  }
  report.note("processor time during one run, " + std::to_string(workers) + " worker(s) a rank");
  report.print();
}

}  // namespace

int main(int argc, char** argv) { return bench::mpi_main("bench_idle", argc, argv, 1, measure); }
