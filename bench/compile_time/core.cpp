#include <plait/core.hpp>

#include <cstdio>

plait::task<long> fib(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(fib(n - 1));
  long b = co_await fib(n - 2);
  co_return co_await a + b;
}

int main() {
  long result = plait::sync_wait(fib(20));
  std::printf("%ld\n", result);
}
