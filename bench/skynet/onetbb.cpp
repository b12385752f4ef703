// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

#include <array>
#include <cstddef>

namespace {

using skynet::width;

long node(long first, long leaves) {
  if (leaves == 1) return first;
  const long part = leaves / width;
  std::array<long, width> sums;
  tbb::task_group group;
  for (std::size_t i = 0; i < width; ++i) {
    group.run([&sum = sums[i], begin = first + static_cast<long>(i) * part, part] { sum = node(begin, part); });
  }
  group.wait();
  long sum = 0;
  for (const long s : sums) sum += s;
  return sum;
}

}  // namespace

double skynet::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    node(0, 1000);
    return bench::timed(answer(n), [n] { return node(0, n); });
  });
}
