// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>

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
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
  tbb::task_arena arena(workers);
  return arena.execute([n] {
    call(15);
    return timed("oneTBB", n, [n] { return call(n); });
  });
}
