// SPDX-License-Identifier: BSL-1.0
#include "core_parts.hpp"

plait::task<long> fib(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}
