// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/thread.hpp>
#include <plait/base/thread_signal.hpp>

#include <cstdio>

PLAIT_INTERFACE

namespace plait::base {

/// Says a line on stderr if it still lives after a while: for calls that may never return. Has a thread of its own;
/// where the system gives none, it says nothing.
class late_notice {
 public:
  /// line: must outlive it. after: nothing is said if it is not above 0.
  late_notice(const char* line, std::chrono::nanoseconds after) noexcept {
    if (after.count() <= 0) return;
    try {
      thread_ = base::thread([this, line, after] {
        if (!over_.wait_until(base::deadline_in(after))) std::fputs(line, stderr);
      });
    } catch (...) {
    }
  }
  late_notice(const late_notice&) = delete;
  late_notice& operator=(const late_notice&) = delete;
  ~late_notice() { over_.set(); }

 private:
  thread_signal over_;
  base::thread thread_;  ///< ends first
};

}  // namespace plait::base
