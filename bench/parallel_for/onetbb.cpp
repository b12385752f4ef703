// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/parallel_for.h>

double parallel_for::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    const auto fill = [](std::uint8_t* bytes, std::size_t size) {
      tbb::parallel_for(std::size_t{0}, size, [bytes](std::size_t i) { bytes[i] = mixed(i); });
    };
    cells(100'000).timed(fill);
    return cells(n).timed(fill);
  });
}
