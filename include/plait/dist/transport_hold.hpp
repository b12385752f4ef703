// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/config.hpp>
#include <plait/base/pause.hpp>

#include <atomic>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Who has the transport: one thread at a time. Most only try. Who is about to sleep, or has put something where only
/// the holder looks, leaves word if another has it: that one may have looked already, and looks again.
class transport_hold {
 public:
  bool try_acquire() noexcept {
    // relaxed look first: most callers find it taken; acquire: what the last holder did; partner: release
    auto expected = free;
    return state_.load(std::memory_order_relaxed) == free &&
           state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// The same, and leaves word if it is taken.
  bool try_acquire_or_leave_word() noexcept {
    for (auto now = state_.load(std::memory_order_relaxed);;) {
      // acquire: as above; release: what the caller has changed before, which the holder must see
      if (state_.compare_exchange_weak(now, now == free ? held : word_left, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        return now == free;
      }
    }
  }
  /// For those who need it: others hold it for microseconds.
  void acquire() noexcept {
    while (!try_acquire()) base::give_way();
  }
  /// Whether word was left: then somebody must look again.
  [[nodiscard]] bool release() noexcept {
    // release: partner: try_acquire; acquire: partner: try_acquire_or_leave_word
    return state_.exchange(free, std::memory_order_acq_rel) == word_left;
  }

 private:
  static constexpr int free = 0;
  static constexpr int held = 1;
  static constexpr int word_left = 2;
  alignas(64) base::atomic<int> state_{free};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
