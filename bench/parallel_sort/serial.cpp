// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <algorithm>

double parallel_sort::run_serial(int n, int) {
  return numbers(n).timed([](std::vector<double>& v) { std::sort(v.begin(), v.end()); });
}
