// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

double parallel_for::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  const auto fill = [&pool](std::uint8_t* bytes, std::size_t size) {
    pool.run(plait::parallel_for(std::size_t{0}, size, [bytes](std::size_t i) { bytes[i] = mixed(i); }));
  };
  cells(100'000).timed(fill);  // threads and frames exist from here on
  return cells(n).timed(fill);
}
