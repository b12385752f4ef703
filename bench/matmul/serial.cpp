// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace {

using matmul::product;

void multiply(const product& p) {
  if (p.side <= matmul::leaf) return multiply_leaf(p);
  for (int number = 0; number < 2; ++number) {
    multiply(p.quarter(0, 0, number));
    multiply(p.quarter(0, 1, number));
    multiply(p.quarter(1, 0, number));
    multiply(p.quarter(1, 1, number));
  }
}

}  // namespace

double matmul::run_serial(int n, int) { return matrices(n).timed(multiply); }
