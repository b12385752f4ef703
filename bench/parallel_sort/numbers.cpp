// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <stdexcept>

parallel_sort::numbers::numbers(int n) : values_(static_cast<std::size_t>(n)) {
  std::mt19937 random(1);
  for (auto& x : values_) x = static_cast<double>(random() >> 8);  // 24 bits: their sum stays below 2^53
  sum_ = std::accumulate(values_.begin(), values_.end(), 0.0);
}

void parallel_sort::numbers::check() const {
  if (!std::is_sorted(values_.begin(), values_.end())) throw std::runtime_error("the numbers are not in order");
  if (std::accumulate(values_.begin(), values_.end(), 0.0) != sum_)
    throw std::runtime_error("the numbers are not those that were there before");
}
