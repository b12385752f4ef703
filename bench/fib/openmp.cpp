// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <exception>

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
  double elapsed = 0;
  std::exception_ptr failure;
#pragma omp parallel num_threads(workers) default(none) shared(elapsed, failure, n)
#pragma omp single
  {
    call(15);
    try {
      elapsed = timed("OpenMP", n, [n] { return call(n); });
    } catch (...) {
      failure = std::current_exception();  // none may leave the region
    }
  }
  if (failure) std::rethrow_exception(failure);
  return elapsed;
}
