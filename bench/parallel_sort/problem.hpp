// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

#include <vector>

/// Numbers in random order, to be sorted. Serial: std::sort; OpenMP: the parallel mode of libstdc++.
namespace parallel_sort {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

/// n numbers, the same in each run.
class numbers {
 public:
  explicit numbers(int n);

  /// Times `sort(values)`, after which they must be in order, and the same as before.
  template <class Sort>
  double timed(Sort&& sort) {
    const double start = bench::seconds();
    sort(values_);
    const double elapsed = bench::seconds() - start;
    check();
    return elapsed;
  }

 private:
  void check() const;

  std::vector<double> values_;
  double sum_ = 0;  ///< exact: the numbers are whole
};

}  // namespace parallel_sort
