// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

#include <array>
#include <cstddef>

namespace {

using nqueens::board;

plait::task<long> place(board b) {
  if (b.full()) co_return 1;
  std::array<plait::future<long>, nqueens::most> parts;
  std::size_t count = 0;
  for (int c = 0; c < b.size; ++c) {
    if (b.is_free(c)) parts[count++] = co_await plait::fork(place(b.with(c)));
  }
  long ways = 0;
  for (std::size_t i = 0; i < count; ++i) ways += co_await parts[i];
  co_return ways;
}

}  // namespace

double nqueens::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  pool.run(place(board(7)));  // threads and frames exist from here on
  return bench::timed(answer(n), [&] { return pool.run(place(board(n))); });
}
