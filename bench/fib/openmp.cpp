// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

namespace {

long call(int n) {
  if (n < 2) return n;
  long a = 0;
#pragma omp task shared(a) firstprivate(n) default(none)
  a = call(n - 1);
  const long b = call(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

double fib::run_openmp(int n, int workers) {
  return bench::in_team(workers, [n] {
    call(15);
    return bench::timed(answer(n), [n] { return call(n); });
  });
}
