// SPDX-License-Identifier: BSL-1.0

// A shared library that a program loads by hand, with plait's core compiled into it.
#include <plait/core.hpp>

#include "loading.hpp"
#include "own_fib.hpp"

namespace {

plait::task<long> fails() {
  co_await plait::yield();
  throw plait::error("from the library");
}

long run_alone(int n) {
  plait::pool own({.workers = 2});
  return own.run(own_fib(n)) + plait::sync_wait(own_fib(n));
}
plait::future<long> spawn_in(plait::pool& where, int n) {
  return n < 0 ? where.spawn(fails()) : where.spawn(own_fib(n));
}
const plait::pool* default_pool() { return &plait::pool::default_pool(); }

}  // namespace

extern "C"
    [[gnu::visibility("default")]] constinit const loaded_functions plait_loaded{&run_alone, &spawn_in, &default_pool};
