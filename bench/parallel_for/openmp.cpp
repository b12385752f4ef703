// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

double parallel_for::run_openmp(int n, int workers) {
  const auto fill = [workers](std::uint8_t* bytes, std::size_t size) {
#pragma omp parallel for num_threads(workers) default(none) firstprivate(bytes, size)
    for (std::size_t i = 0; i < size; ++i) bytes[i] = mixed(i);
  };
  cells(100'000).timed(fill);
  return cells(n).timed(fill);
}
