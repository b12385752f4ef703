// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <mpi.h>

#include <stdexcept>

remote_task::samples remote_task::run_raw_mpi(int count) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  samples times;
  long value = 0;
  if (rank == 0) {
    times.reserve(static_cast<std::size_t>(count));
    for (long i = 0; i < count; ++i) {
      const double start = bench::seconds();
      MPI_Send(&i, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      times.push_back((bench::seconds() - start) * 1e6);
      if (value != i + 1) throw std::runtime_error("raw MPI: rank 1 answered with a wrong number");
    }
  } else if (rank == 1) {
    for (int i = 0; i < count; ++i) {
      MPI_Recv(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++value;
      MPI_Send(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return times;
}
