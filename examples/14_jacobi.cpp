// SPDX-License-Identifier: BSL-1.0
// A 2-D Jacobi solver that is an ordinary MPI program: its own MPI_Init_thread, rows dealt out to ranks, halo exchange
// and Allreduce in native MPI. Inside each rank a plait::pool sweeps the tiles on all its cores while the halo rows are
// on their way. Rank 0 compares the result with a serial run, bit by bit.
//
//   mpirun -n 4 ./14_jacobi
//
// expect: [0-9]+ sweeps, largest change [0-9.]+e-04
// expect: the same as the serial solver: 126 x 126 points
#include <plait/core.hpp>

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

constexpr int n = 126;          // inner points in each direction
constexpr int width = n + 2;    // with the boundary
constexpr int tile_rows = 8;    // what one task sweeps
constexpr double limit = 5e-4;  // the largest change at which the iteration ends

/// Some rows of the plate, with one more row above and below: a neighbour's or the boundary.
struct grid {
  explicit grid(int row_count) : rows(row_count), values(static_cast<std::size_t>((row_count + 2) * width)) {}
  double* row(int r) { return values.data() + static_cast<std::ptrdiff_t>(r) * width; }
  const double* row(int r) const { return values.data() + static_cast<std::ptrdiff_t>(r) * width; }
  int rows;
  std::vector<double> values;
};

/// One Jacobi step of the rows first..last-1. Returns the largest change of a point.
double relax(const grid& from, grid& to, int first, int last) {
  double change = 0;
  for (int r = first; r < last; ++r) {
    const double* above = from.row(r - 1);
    const double* here = from.row(r);
    const double* below = from.row(r + 1);
    for (int c = 1; c <= n; ++c) {
      const double value = 0.25 * (above[c] + below[c] + here[c - 1] + here[c + 1]);
      change = std::max(change, std::abs(value - here[c]));
      to.row(r)[c] = value;
    }
  }
  return change;
}

/// The same by halves, down to tiles; the forked half may run on another core. Both grids outlive the task, since the
/// pool's run and each fork's future wait for it.
plait::task<double> sweep(const grid& from, grid& to, int first, int last) {
  if (last - first <= tile_rows) co_return relax(from, to, first, last);
  const int middle = first + (last - first) / 2;
  plait::future<double> upper = co_await plait::fork(sweep(from, to, first, middle));
  const double lower_change = co_await sweep(from, to, middle, last);
  const double upper_change = co_await upper;
  co_return std::max(lower_change, upper_change);
}

/// Solves the whole plate in one thread, for comparison. Returns the number of sweeps.
int solve_serially(grid& plate) {
  grid next = plate;
  int sweeps = 0;
  for (double change = 1; change >= limit; ++sweeps) {
    change = relax(plate, next, 1, n + 1);
    std::swap(plate, next);
  }
  return sweeps;
}

/// Starts the exchange of the outermost own rows with the neighbours'; at the edge of the plate there is none.
void start_halo_exchange(grid& part, int above, int below, MPI_Request (&requests)[4]) {
  MPI_Irecv(part.row(0), width, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(part.row(part.rows + 1), width, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(part.row(1), width, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(part.row(part.rows), width, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[3]);
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);  // only this thread calls MPI
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto first_row = [size](int r) { return static_cast<int>(static_cast<long>(n) * r / size); };
  if (size > n) {
    if (rank == 0) std::fprintf(stderr, "14_jacobi: at most %d ranks, one for each row\n", n);
    MPI_Finalize();
    return 2;
  }

  const int rows = first_row(rank + 1) - first_row(rank);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  grid part(rows);
  if (rank == 0) std::fill_n(part.row(0), width, 1.0);  // the upper edge is hot, the others are cold
  grid next = part;

  int sweeps = 0;
  double change = 1;
  {
    plait::pool pool;
    for (; change >= limit; ++sweeps) {
      MPI_Request requests[4];
      start_halo_exchange(part, above, below, requests);
      double own = pool.run(sweep(part, next, 2, rows));  // rows that need no neighbour
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
      own = std::max({own, relax(part, next, 1, 2), relax(part, next, rows, rows + 1)});
      MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      std::swap(part, next);
    }
  }

  std::vector<int> counts(static_cast<std::size_t>(size));
  std::vector<int> offsets(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    counts[static_cast<std::size_t>(r)] = (first_row(r + 1) - first_row(r)) * width;
    offsets[static_cast<std::size_t>(r)] = first_row(r) * width;
  }
  grid whole(n);
  MPI_Gatherv(part.row(1), rows * width, MPI_DOUBLE, whole.row(1), counts.data(), offsets.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);

  int good = 1;
  if (rank == 0) {
    std::printf("%d sweeps, largest change %.4e\n", sweeps, change);
    std::fill_n(whole.row(0), width, 1.0);
    grid expected(n);
    std::fill_n(expected.row(0), width, 1.0);
    good = solve_serially(expected) == sweeps && expected.values == whole.values;
    if (good)
      std::printf("the same as the serial solver: %d x %d points\n", n, n);
    else
      std::fprintf(stderr, "wrong: the serial solver has other values\n");
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return good ? 0 : 1;
}
