// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

#include <array>
#include <cstddef>

namespace {

using skynet::width;

long node(long first, long leaves) {
  if (leaves == 1) return first;
  const long part = leaves / width;
  std::array<long, width> sums;
  for (std::size_t i = 0; i < width; ++i) {
    long* sum = &sums[i];
    const long begin = first + static_cast<long>(i) * part;
#pragma omp task firstprivate(sum, begin, part) default(none)
    *sum = node(begin, part);
  }
#pragma omp taskwait
  long sum = 0;
  for (const long s : sums) sum += s;
  return sum;
}

}  // namespace

double skynet::run_openmp(int n, int workers) {
  return bench::in_team(workers, [n] {
    node(0, 1000);
    return bench::timed(answer(n), [n] { return node(0, n); });
  });
}
