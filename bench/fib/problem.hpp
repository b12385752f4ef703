// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/statistics.hpp"

#include <stdexcept>
#include <string>

/// The naive recursion with a task at each level: nothing but the cost of making and joining tasks.
namespace fib {

/// Each runs fib(n) once, with so many workers that were started before, and returns the seconds it took.
/// A wrong result is a std::runtime_error: it has no time.
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
inline long calls(int n) { return 2 * answer(n + 1) - 1; }

/// Times one call of `compute`, which must return fib(n).
template <class Compute>
double timed(const char* name, int n, Compute&& compute) {
  const double start = bench::seconds();
  const long result = compute();
  const double elapsed = bench::seconds() - start;
  if (result != answer(n)) {
    throw std::runtime_error(std::string(name) + " gives fib(" + std::to_string(n) + ") = " + std::to_string(result) +
                             ", which is wrong");
  }
  return elapsed;
}

}  // namespace fib
