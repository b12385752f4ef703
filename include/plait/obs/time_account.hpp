// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/obs/counters.hpp>

#include <cstddef>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::obs {

/// What a worker spends its time with.
enum class activity : std::uint8_t {
  away,           ///< its thread does something else
  work,           ///< tasks
  search,         ///< looks for something to do
  sleep,          ///< has found nothing
  communication,  ///< hears and sends messages, while it has something else to do
};
inline constexpr std::size_t activities = 5;

/// One worker's time, by activity. The worker writes, any thread may read. Times in nanoseconds.
class time_account {
 public:
  /// From now on it does this.
  void enter(activity next, std::int64_t now) noexcept {
    const auto before = since_.read();
    const auto time = static_cast<std::uint64_t>(now);
    if (before != 0 && time > before) spent_[current_.read()].add(time - before);
    current_.add(static_cast<std::uint64_t>(next) - current_.read());  // may wrap around, which is well
    since_.add(time - before);
  }

  /// Any thread. What has begun counts up to `now`; while the worker goes over to something else it may be missing, or
  /// there twice.
  std::uint64_t spent(activity what, std::int64_t now) const noexcept {
    const auto whole = spent_[static_cast<std::size_t>(what)].read();
    const auto since = since_.read();
    if (current_.read() != static_cast<std::uint64_t>(what) || since == 0 || static_cast<std::uint64_t>(now) < since)
      return whole;
    return whole + static_cast<std::uint64_t>(now) - since;
  }

 private:
  counter spent_[activities];
  counter current_;
  counter since_;  ///< 0: not before the first entry
};

}  // namespace plait::obs
