// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

/// The naive recursion with a task at each level: nothing but the cost of making and joining tasks.
namespace fib {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

/// fib(n) without recursion.
inline long answer(int n) {
  long a = 0;
  long b = 1;
  for (int i = 0; i < n; ++i) {
    const long sum = a + b;
    a = b;
    b = sum;
  }
  return a;
}

/// The number of calls that the recursion makes.
inline double calls(int n) { return static_cast<double>(2 * answer(n + 1) - 1); }

}  // namespace fib
