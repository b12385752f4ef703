// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/pause.hpp>

#include <atomic>

PLAIT_INTERFACE

namespace plait::base {

/// A mutex of one byte for a few instructions.
class spin_lock {
 public:
  void lock() noexcept {
    for (backoff turns; held_.exchange(true, std::memory_order_acquire);) turns.wait();  // partner: unlock
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // partner: lock

 private:
  atomic<bool> held_{false};
};

}  // namespace plait::base
