// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

#include <array>
#include <cstddef>

namespace {

using nqueens::board;

long place(board b) {
  if (b.full()) return 1;
  std::array<long, nqueens::most> parts;
  std::size_t count = 0;
  for (int c = 0; c < b.size; ++c) {
    if (!b.is_free(c)) continue;
    long* part = &parts[count++];
    const board next = b.with(c);
#pragma omp task firstprivate(part, next) default(none)
    *part = place(next);
  }
#pragma omp taskwait
  long ways = 0;
  for (std::size_t i = 0; i < count; ++i) ways += parts[i];
  return ways;
}

}  // namespace

double nqueens::run_openmp(int n, int workers) {
  return bench::in_team(workers, [n] {
    place(board(7));
    return bench::timed(answer(n), [n] { return place(board(n)); });
  });
}
