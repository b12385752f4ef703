// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/core.hpp>

// Each unit that includes it has a function of its own.
namespace {

plait::task<long> own_fib(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(own_fib(n - 1));
  const long b = co_await own_fib(n - 2);
  co_return co_await a + b;
}

}  // namespace
