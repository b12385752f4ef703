// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/simulator.hpp>

// Durations and clocks. <chrono> brings calendars, time zones and their streams too, a quarter of what plait/core.hpp
// takes to compile without them; libstdc++ has the rest in a header of its own.
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

#include <cerrno>

#include <time.h>

PLAIT_INTERFACE

namespace plait::base {

/// The time: that of the system's steady clock, in a simulation the virtual one.
inline std::chrono::steady_clock::time_point now() noexcept {
  const auto* s = this_simulator();
  if (s == nullptr) return std::chrono::steady_clock::now();
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(s->now()));
}

/// A time in seconds as those of the environment are given, at most some years.
inline std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

/// The time point that is `at_most` from now, or the last one if that is beyond it. For waits with a limit.
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_in(std::chrono::duration<Rep, Period> at_most) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> years(1e9);  // about 32, well within the clock's range
  if (std::chrono::duration<double>(at_most) >= years) return clock::time_point::max();
  return now() + std::chrono::ceil<clock::duration>(at_most);
}

/// The time that is left until a time point: 0 if it has passed, the longest one if it is the last one.
inline std::chrono::nanoseconds time_until(std::chrono::steady_clock::time_point when) noexcept {
  using clock = std::chrono::steady_clock;
  if (when == clock::time_point::max()) return std::chrono::nanoseconds::max();
  const std::chrono::nanoseconds left = when - now();
  return left.count() < 0 ? std::chrono::nanoseconds(0) : left;
}

/// The thread sleeps for a time.
inline void nap(std::chrono::nanoseconds time) noexcept {
  if (auto* s = this_simulator()) return s->nap(time.count());
  timespec left{static_cast<time_t>(time.count() / 1'000'000'000), static_cast<long>(time.count() % 1'000'000'000)};
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace plait::base
