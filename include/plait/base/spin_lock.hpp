// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/pause.hpp>

#include <atomic>

namespace plait::base {

/// A mutex of one byte for a few instructions. Who waits gives way after a while, since the holder may not be running.
class spin_lock {
 public:
  void lock() noexcept {
    for (unsigned turn = 1; held_.exchange(true, std::memory_order_acquire); ++turn) {  // partner: unlock
      if (turn % 16 == 0) {
        give_way();
      } else {
        pause();
      }
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // partner: lock

 private:
  std::atomic<bool> held_{false};
};

}  // namespace plait::base
