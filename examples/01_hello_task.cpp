// SPDX-License-Identifier: BSL-1.0
// Tasks on the cores of one machine: a task is a coroutine, fork starts a child that another worker may run beside its
// parent, and co_await takes its result. Needs plait/core.hpp only: no MPI, no other library.
//
//   ./01_hello_task
//
// expect: fib\(25\) = 75025
#include <plait/core.hpp>

#include <cstdio>

plait::task<long> fib(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(fib(n - 1));  // starts now; the rest of this call may be stolen
  long b = co_await fib(n - 2);                              // an ordinary call: it runs here
  co_return co_await a + b;                                  // suspends if a is not ready; no thread waits
}

int main() {
  const long result = plait::sync_wait(fib(25));
  std::printf("fib(25) = %ld\n", result);
  if (result == 75025) return 0;
  std::fprintf(stderr, "wrong: fib(25) is 75025\n");
  return 1;
}
