// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

namespace {

using matmul::product;

void multiply(product p) {
  if (p.side <= matmul::leaf) return multiply_leaf(p);
  for (int number = 0; number < 2; ++number) {
#pragma omp task firstprivate(p, number) default(none)
    multiply(p.quarter(0, 0, number));
#pragma omp task firstprivate(p, number) default(none)
    multiply(p.quarter(0, 1, number));
#pragma omp task firstprivate(p, number) default(none)
    multiply(p.quarter(1, 0, number));
    multiply(p.quarter(1, 1, number));
#pragma omp taskwait
  }
}

}  // namespace

double matmul::run_openmp(int n, int workers) {
  return bench::in_team(workers, [n] {
    matrices small(128);
    multiply(small.whole());
    return matrices(n).timed(multiply);
  });
}
