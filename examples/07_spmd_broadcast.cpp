// SPDX-License-Identifier: BSL-1.0
// One function on every rank at once, from inside a task: spmd gives the ranks a communicator of their own, on which
// the body calls MPI itself, here a broadcast. The results of all ranks come back as one vector.
//
//   mpirun -n 4 ./07_spmd_broadcast
//
// expect: rank 0 has the sum 499500
// expect on 4: rank 3 has the sum 499500
// expect: every rank has the same table of 1000 numbers
#include <plait/plait.hpp>

#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

/// Rank 0 fills a table, the broadcast takes it to all ranks, and each answers with the sum of what it got.
long distribute(int count) {
  std::vector<int> table(static_cast<std::size_t>(count));
  if (plait::rank() == 0) std::iota(table.begin(), table.end(), 0);
  MPI_Bcast(table.data(), count, MPI_INT, 0, plait::mpi::comm());
  return std::accumulate(table.begin(), table.end(), 0L);
}

plait::task<int> program() {
  const std::vector<long> sums = co_await plait::spmd<distribute>(1000);
  bool same = sums.size() == static_cast<std::size_t>(plait::size());
  for (std::size_t r = 0; r < sums.size(); ++r) {
    std::printf("rank %zu has the sum %ld\n", r, sums[r]);
    same = same && sums[r] == 499'500;
  }
  if (same) {
    std::printf("every rank has the same table of 1000 numbers\n");
    co_return 0;
  }
  std::fprintf(stderr, "wrong: %d ranks should have the sum 499500\n", plait::size());
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
