// SPDX-License-Identifier: BSL-1.0
// Nested parallelism across ranks: a submitted task submits tasks and awaits them, to any depth. While it waits, its
// worker runs other tasks; whichever rank is idle steals.
//
//   mpirun -n 4 ./06_fibonacci_across_ranks [n]
//
// expect: fib\(26\) = 121393
#include <plait/plait.hpp>

#include <cstdio>
#include <cstdlib>

long serial_fib(int n) { return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2); }

plait::task<long> fib(int n) {
  if (n < 14) co_return serial_fib(n);                // a few microseconds: not worth a message
  plait::future<long> a = plait::submit<fib>(n - 1);  // may move to another rank
  long b = co_await fib(n - 2);                       // an ordinary call, which submits further tasks
  co_return co_await a + b;
}

plait::task<int> program(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 26;
  const long result = co_await fib(n);
  std::printf("fib(%d) = %ld\n", n, result);

  long expected = 0;
  for (long i = 0, next = 1; i < n; ++i) {
    const long sum = expected + next;
    expected = next;
    next = sum;
  }
  if (result == expected) co_return 0;
  std::fprintf(stderr, "wrong: fib(%d) is %ld\n", n, expected);
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
