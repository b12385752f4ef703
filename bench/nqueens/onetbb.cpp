// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

#include <array>
#include <cstddef>

namespace {

using nqueens::board;

long place(const board& b) {
  if (b.full()) return 1;
  std::array<long, nqueens::most> parts;
  std::size_t count = 0;
  tbb::task_group group;
  for (int c = 0; c < b.size; ++c) {
    if (b.is_free(c)) group.run([&part = parts[count++], next = b.with(c)] { part = place(next); });
  }
  group.wait();
  long ways = 0;
  for (std::size_t i = 0; i < count; ++i) ways += parts[i];
  return ways;
}

}  // namespace

double nqueens::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    place(board(7));
    return bench::timed(answer(n), [n] { return place(board(n)); });
  });
}
