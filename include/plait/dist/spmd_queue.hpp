// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/dist/portable.hpp>
#include <plait/sched/pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The spmd bodies that wait on one rank: they run as rank 0 has numbered them, one after another. Thread-safe.
class spmd_queue {
 public:
  /// A run begins.
  void reset() {
    const std::lock_guard lock(mutex_);
    numbered_ = next_ = 0;
    running_ = false;
    waiting_.clear();
    first_ = 0;
    ready_.store(false, std::memory_order_relaxed);  // a hint
  }

  /// On rank 0: the number of the next call.
  std::uint64_t next_number() noexcept { return numbered_++; }

  /// A body has come; large ones may overtake small ones.
  void add(std::uint64_t number, portable* body) {
    const std::lock_guard lock(mutex_);
    const auto place = static_cast<std::size_t>(number - first_);
    if (place >= waiting_.size()) waiting_.resize(place + 1);
    waiting_[place] = body;
    note();
  }

  /// Queues the body that may start now, if there is one; on worker 0, if it may not run anywhere.
  void start_next(plait::pool& p, bool anywhere) {
    auto* body = take();
    if (body == nullptr) return;
    if (anywhere) {
      p.post(body);
    } else {
      p.post_to(0, body);
    }
  }

  /// The body that was taken has ended.
  void ended() {
    const std::lock_guard lock(mutex_);
    running_ = false;
    note();
  }

 private:
  /// The body that may start now, or null.
  portable* take() {
    if (!ready_.load(std::memory_order_relaxed)) return nullptr;  // a hint: who changes it calls take afterwards
    const std::lock_guard lock(mutex_);
    note();
    if (!ready_.load(std::memory_order_relaxed)) return nullptr;  // under the lock
    running_ = true;
    auto* body = waiting_[static_cast<std::size_t>(next_++ - first_)];
    if (next_ - first_ == waiting_.size()) {
      waiting_.clear();
      first_ = next_;
    }
    note();
    return body;
  }

  void note() noexcept {
    const auto place = static_cast<std::size_t>(next_ - first_);
    const bool ready = !running_ && place < waiting_.size() && waiting_[place] != nullptr;
    ready_.store(ready, std::memory_order_relaxed);  // a hint
  }

  std::mutex mutex_;
  std::uint64_t numbered_ = 0;
  std::uint64_t next_ = 0;
  bool running_ = false;
  base::growing_array<portable*> waiting_;  // by number, from first_ on; null: not yet there
  std::uint64_t first_ = 0;
  base::atomic<bool> ready_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
