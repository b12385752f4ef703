// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>
#include <thread>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Who has the transport: one thread at a time. Most only try; whoever has it does the others' work too.
class transport_hold {
 public:
  bool try_acquire() noexcept {
    // relaxed look first: most callers find it taken; acquire: what the last holder did; partner: release
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  /// For those who need it: others hold it for microseconds.
  void acquire() noexcept {
    while (!try_acquire()) std::this_thread::yield();
  }
  void release() noexcept { held_.store(false, std::memory_order_release); }  // partner: try_acquire

 private:
  alignas(64) std::atomic<bool> held_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
