// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace {

long call(int n) {
  if (n < 2) return n;
  return call(n - 1) + call(n - 2);
}

}  // namespace

double fib::run_serial(int n, int) {
  return bench::timed(answer(n), [n] { return call(n); });
}
