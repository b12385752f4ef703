// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

#include <stdexcept>

/// A tree of tasks, ten below each, whose leaves give their numbers: the sum of 0 to n - 1.
namespace skynet {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

inline constexpr long width = 10;

/// The sum of all leaves. n: a power of ten.
inline long answer(int n) {
  long power = 1;
  while (power < n) power *= width;
  if (power != n) throw std::runtime_error("n must be a power of ten");
  return power * (power - 1) / 2;
}

/// The number of tasks.
inline double tasks(int n) {
  double sum = 0;
  for (long level = 1; level <= n; level *= width) sum += static_cast<double>(level);
  return sum;
}

}  // namespace skynet
