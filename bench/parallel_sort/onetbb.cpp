// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/parallel_sort.h>

double parallel_sort::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    const auto sort = [](std::vector<double>& v) { tbb::parallel_sort(v.begin(), v.end()); };
    numbers(100'000).timed(sort);
    return numbers(n).timed(sort);
  });
}
