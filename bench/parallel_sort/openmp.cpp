// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <cstdint>
#include <parallel/algorithm>

double parallel_sort::run_openmp(int n, int workers) {
  const auto sort = [workers](std::vector<double>& v) {
    __gnu_parallel::sort(v.begin(), v.end(), __gnu_parallel::default_parallel_tag(static_cast<std::uint16_t>(workers)));
  };
  numbers(100'000).timed(sort);
  return numbers(n).timed(sort);
}
