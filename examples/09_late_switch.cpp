// SPDX-License-Identifier: BSL-1.0
// An MPI program that uses plait for one phase only. It owns MPI_Init and its communicators; in each step it makes a
// list with native MPI, switches to master and workers for the uneven part, and goes on with native MPI. Nothing of
// plait is left running in between.
//
//   mpirun -n 4 ./09_late_switch
//
// expect: step 1: longest chain below 4000 has 237 steps
// expect: step 2: longest chain below 8000 has 261 steps
// expect: native MPI agrees on all ranks
#include <plait/plait.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

/// Steps of the Collatz sequence from n to 1: work whose amount nobody knows before.
int chain_length(int n) {
  int steps = 0;
  for (long long x = n; x != 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return steps;
}

plait::task<int> longest_chain(std::vector<int> starts) {
  const std::vector<int> lengths = co_await plait::map<chain_length>(starts, {.chunk = 100});
  co_return *std::max_element(lengths.begin(), lengths.end());
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  bool good = true;
  for (int step = 1; step <= 2; ++step) {
    // SPMD: each rank makes its part of the list, and rank 0 gathers it.
    const int count = 4000 * step;
    const int each = (count + size - 1) / size;
    std::vector<int> part(static_cast<std::size_t>(each));
    for (int i = 0; i < each; ++i) part[static_cast<std::size_t>(i)] = std::min(rank * each + i + 1, count - 1);
    std::vector<int> starts(static_cast<std::size_t>(each * size));
    MPI_Gather(part.data(), each, MPI_INT, starts.data(), each, MPI_INT, 0, MPI_COMM_WORLD);

    // Master and workers: rank 0 runs the task, the others serve until it has ended.
    int longest = 0;
    {
      plait::runtime rt{MPI_COMM_WORLD};
      const std::optional<int> found = rt.run([&] { return longest_chain(std::move(starts)); });
      if (found) longest = *found;  // on rank 0
    }

    // SPMD again: the answer goes to all, and each rank checks it against its own part.
    MPI_Bcast(&longest, 1, MPI_INT, 0, MPI_COMM_WORLD);
    int own = 0;
    for (const int n : part) own = std::max(own, chain_length(n));
    int expected = 0;
    MPI_Allreduce(&own, &expected, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    good = good && longest == expected;
    if (rank == 0) std::printf("step %d: longest chain below %d has %d steps\n", step, count, longest);
  }

  if (rank == 0 && good) std::printf("native MPI agrees on all ranks\n");
  if (!good) std::fprintf(stderr, "wrong: rank %d found another maximum\n", rank);
  MPI_Finalize();
  return good ? 0 : 1;
}
