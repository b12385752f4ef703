// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

namespace {

using matmul::product;

void multiply(const product& p) {
  if (p.side <= matmul::leaf) return multiply_leaf(p);
  for (int number = 0; number < 2; ++number) {
    tbb::task_group group;
    group.run([quarter = p.quarter(0, 0, number)] { multiply(quarter); });
    group.run([quarter = p.quarter(0, 1, number)] { multiply(quarter); });
    group.run([quarter = p.quarter(1, 0, number)] { multiply(quarter); });
    multiply(p.quarter(1, 1, number));
    group.wait();
  }
}

}  // namespace

double matmul::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    matrices small(128);
    multiply(small.whole());
    return matrices(n).timed(multiply);
  });
}
