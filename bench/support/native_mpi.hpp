// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace bench {

/// The main program of a benchmark on MPI_COMM_WORLD: initialises MPI at THREAD_MULTIPLE, checks that there are at
/// least `least_ranks`, and calls `measure(argc, argv, rank)`. An exception is reported and ends the job.
template <class Measure>
int mpi_main(const char* name, int argc, char** argv, int least_ranks, Measure measure) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int status = 0;
  if (size < least_ranks) {
    if (rank == 0)
      std::fprintf(stderr, "%s: needs %d ranks: mpirun -n %d ./%s\n", name, least_ranks, least_ranks, name);
    status = 2;
  } else {
    try {
      measure(argc, argv, rank);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: rank %d: %s\n", name, rank, e.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}

}  // namespace bench
