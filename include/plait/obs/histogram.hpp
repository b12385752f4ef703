// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/obs/counters.hpp>

#include <cstddef>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::obs {

// Times in nanoseconds are counted in ranges of which each is a sixteenth as wide as the power of two in which it lies,
// as HdrHistogram does (Tene), so the middle of a range is at most 3.2 % from any time in it. Below 16 ns they are
// exact.

inline constexpr unsigned steps_an_octave = 16;
inline constexpr std::size_t time_ranges = 44 * steps_an_octave;  // the last one begins after 37 hours

/// The range that a time lies in.
inline std::size_t time_range_of(std::uint64_t nanoseconds) noexcept {
  if (nanoseconds < steps_an_octave) return static_cast<std::size_t>(nanoseconds);
  const auto octave = static_cast<unsigned>(63 - __builtin_clzll(nanoseconds));  // 4 or more
  const std::size_t range =
      (octave - 3) * std::size_t{steps_an_octave} + (nanoseconds >> (octave - 4) & (steps_an_octave - 1));
  return range < time_ranges ? range : time_ranges - 1;
}

/// The middle of a range.
inline double time_in_range(std::size_t range) noexcept {
  if (range < steps_an_octave) return static_cast<double>(range);
  const auto octave = static_cast<unsigned>(range / steps_an_octave + 3);
  const auto width = std::uint64_t{1} << (octave - 4);
  const auto begin = (steps_an_octave + range % steps_an_octave) * width;
  return static_cast<double>(begin) + static_cast<double>(width - 1) / 2;
}

/// How long the tasks of one name took on one worker, which counts them; any thread may read.
struct time_counts {
  counter count;
  counter total;  ///< nanoseconds
  counter most;
  counter in_range[time_ranges];

  void add(std::uint64_t nanoseconds) noexcept {
    count.add();
    total.add(nanoseconds);
    if (const auto before = most.read(); nanoseconds > before) most.add(nanoseconds - before);
    in_range[time_range_of(nanoseconds)].add();
  }
};

}  // namespace plait::obs
