// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

namespace {

plait::task<long> call(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(call(n - 1));
  const long b = co_await call(n - 2);
  co_return co_await a + b;
}

}  // namespace

double fib::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  pool.run(call(15));  // threads and frames exist from here on
  return bench::timed(answer(n), [&] { return pool.run(call(n)); });
}
