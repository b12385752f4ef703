// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Where a task of this rank has gone, and whether somebody wants it to stop. Any thread; a rank to tell is given once
/// for each rank that gets the task after, or while, somebody wants that.
class whereabouts {
 public:
  /// Somebody wants it to stop. Gives the rank to tell, or -1 if it has not left, or that rank was told before.
  int want_stop() noexcept {
    // acq_rel, here and below: what was written before by who says where it is, or wants it to stop
    const auto before = word_.fetch_or(stop_wanted, std::memory_order_acq_rel);
    return (before & ~stop_wanted) == 0 || (before & stop_wanted) != 0 ? -1 : static_cast<int>(before & rank_bits);
  }
  /// A rank has got it, as the `moves`th from the first one on. True: it has to be told to stop.
  bool moved(int rank, std::uint32_t moves) noexcept {
    auto before = word_.load(std::memory_order_acquire);
    for (;;) {
      if (((before & ~stop_wanted) >> 32) >= moves) return false;  // the news of a later move was faster
      const auto next = (before & stop_wanted) | std::uint64_t{moves} << 32 | static_cast<std::uint32_t>(rank);
      if (word_.compare_exchange_weak(before, next, std::memory_order_acq_rel, std::memory_order_acquire))
        return (before & stop_wanted) != 0;
    }
  }

 private:
  static constexpr std::uint64_t stop_wanted = std::uint64_t{1} << 63;
  static constexpr std::uint64_t rank_bits = 0xffffffffu;
  base::atomic<std::uint64_t> word_{0};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
