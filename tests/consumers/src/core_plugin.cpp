// SPDX-License-Identifier: BSL-1.0
#include "core_parts.hpp"

namespace {

plait::task<long> own_fib(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(own_fib(n - 1));
  const long b = co_await own_fib(n - 2);
  co_return co_await a + b;
}

}  // namespace

long plugin_fib(int n) { return plait::sync_wait(own_fib(n)); }

const plait::pool* plugin_pool() { return &plait::pool::default_pool(); }
