// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

namespace {

long call(int n) {
  if (n < 2) return n;
  long a = 0;
  tbb::task_group group;
  group.run([&a, n] { a = call(n - 1); });
  const long b = call(n - 2);
  group.wait();
  return a + b;
}

}  // namespace

double fib::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    call(15);
    return bench::timed(answer(n), [n] { return call(n); });
  });
}
