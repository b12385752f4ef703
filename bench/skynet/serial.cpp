// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace {

using skynet::width;

long node(long first, long leaves) {
  if (leaves == 1) return first;
  const long part = leaves / width;
  long sum = 0;
  for (long i = 0; i < width; ++i) sum += node(first + i * part, part);
  return sum;
}

}  // namespace

double skynet::run_serial(int n, int) {
  return bench::timed(answer(n), [n] { return node(0, n); });
}
