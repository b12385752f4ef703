// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The smallest sample that is not exceeded by the share q (0 to 1) of all samples, which must not be empty.
inline double quantile(std::vector<double> samples, double q) {
  std::sort(samples.begin(), samples.end());
  const double rank = std::ceil(q * static_cast<double>(samples.size()));
  const std::size_t index = rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1;
  return samples[std::min(index, samples.size() - 1)];
}

/// The middle sample; the mean of the two middle ones where their number is even.
inline double median(const std::vector<double>& samples) {
  if (samples.size() % 2 == 1) return quantile(samples, 0.5);
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[sorted.size() / 2 - 1] + sorted[sorted.size() / 2]) / 2;
}

/// Seconds since an arbitrary moment, from a clock that never goes back.
inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bench
