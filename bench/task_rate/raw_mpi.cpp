// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

double task_rate::run_raw_mpi(int count, int window) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<long> values(static_cast<std::size_t>(window));
  std::vector<MPI_Request> requests(static_cast<std::size_t>(window));
  long sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench::seconds();
  for (int sent = 0; sent < count && rank < 2; sent += window) {
    const int now = std::min(window, count - sent);
    for (int i = 0; i < now; ++i) {
      long& value = values[static_cast<std::size_t>(i)];
      MPI_Request& request = requests[static_cast<std::size_t>(i)];
      if (rank == 0) {
        value = sent + i;
        MPI_Isend(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, &request);
      }
    }
    MPI_Waitall(now, requests.data(), MPI_STATUSES_IGNORE);
    if (rank == 1) {
      for (int i = 0; i < now; ++i) sum += values[static_cast<std::size_t>(i)];
    }
  }
  if (rank == 1) MPI_Send(&sum, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&sum, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double elapsed = bench::seconds() - start;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && sum != static_cast<long>(count) * (count - 1) / 2) {
    throw std::runtime_error("raw MPI: rank 1 received other numbers");
  }
  return rank == 0 ? elapsed : 0;
}
