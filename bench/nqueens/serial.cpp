// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace {

using nqueens::board;

long place(const board& b) {
  if (b.full()) return 1;
  long ways = 0;
  for (int c = 0; c < b.size; ++c) {
    if (b.is_free(c)) ways += place(b.with(c));
  }
  return ways;
}

}  // namespace

double nqueens::run_serial(int n, int) {
  return bench::timed(answer(n), [n] { return place(board(n)); });
}
