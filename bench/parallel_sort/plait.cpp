// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

double parallel_sort::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  const auto sort = [&pool](std::vector<double>& v) { pool.run(plait::parallel_sort(v)); };
  numbers(100'000).timed(sort);  // threads and frames exist from here on
  return numbers(n).timed(sort);
}
