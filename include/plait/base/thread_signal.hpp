// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/futex.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::base {

/// A word on which one thread sleeps until another has called `set`. The setter touches no memory after the store, so
/// the object may end as soon as `wait` has returned.
class thread_signal {
 public:
  void set() noexcept {
    word_.store(1, std::memory_order_release);  // partner: the acquire load in is_set
    futex_wake(word_, futex_scope::process, 1);
  }
  bool is_set() const noexcept { return word_.load(std::memory_order_acquire) != 0; }  // partner: the store in set
  /// Only by the waiting thread, between two waits, when nobody is about to set it.
  void reset() noexcept { word_.store(0, std::memory_order_relaxed); }
  void wait() noexcept {
    while (!is_set()) futex_wait(word_, 0, forever, futex_scope::process);
  }
  /// False if the deadline passed first.
  bool wait_until(std::chrono::steady_clock::time_point deadline) noexcept {
    while (!is_set()) {
      const auto left = deadline - now();
      if (left.count() <= 0) return false;
      futex_wait(word_, 0, std::chrono::duration_cast<std::chrono::nanoseconds>(left), futex_scope::process);
    }
    return true;
  }

 private:
  atomic<std::uint32_t> word_{0};
};

}  // namespace plait::base
