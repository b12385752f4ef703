// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/heavy_barrier.hpp>
#include <plait/base/thread_signal.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace plait::sched {

/// Where workers sleep that found nothing. Pushing a job costs one load as long as nobody sleeps or somebody searches.
///
/// The race to win: a worker pushes a job and sees nobody asleep, while another looks at all queues, sees nothing and goes
/// to sleep. The one that goes to sleep counts itself first and looks again after `heavy_barrier`, which makes every push
/// whose load came before the barrier visible to it, and every later load see the count. Without membarrier(2) pushes
/// pay for the order themselves (`needs_fence`).
class parking_lot {
 public:
  /// One worker's bed. `rouse`, where it is set, is called after the signal: the worker sleeps somewhere else then, where
  /// it also hears messages. The worker writes it only while it is up.
  struct bed {
    base::thread_signal signal;
    void (*rouse)(void*) = nullptr;
    void* rouse_argument = nullptr;
  };

  parking_lot() : needs_fence_(!base::register_heavy_barrier()) {}

  /// After a push: wakes one worker if some sleep and none searches.
  PLAIT_ALWAYS_INLINE void notify() noexcept {
    // relaxed: see the race above
    const auto now = needs_fence_ ? counts_.fetch_add(0, std::memory_order_seq_cst)
                                  : counts_.load(std::memory_order_relaxed);
    if (asleep(now) != 0 && searching(now) == 0) [[unlikely]]
      wake_one();
  }

  void begin_search() noexcept { counts_.fetch_add(one_searching, std::memory_order_seq_cst); }
  /// Ends a search; true if it was the last one, and then a worker that found a job should call notify.
  bool end_search() noexcept {
    return searching(counts_.fetch_sub(one_searching, std::memory_order_seq_cst)) == 1;
  }
  bool anyone_asleep() const noexcept { return asleep(counts_.load(std::memory_order_seq_cst)) != 0; }

  /// Called by a searching worker, which counts as asleep afterwards and must then look at all queues once more, and either
  /// sleep and `rise`, or only `rise`. `first_to_wake` false: it is woken after all others.
  void lie_down(bed& b, bool first_to_wake) {
    b.signal.reset();
    {
      const std::lock_guard lock(mutex_);
      beds_.insert(first_to_wake ? beds_.end() : beds_.begin(), &b);
      counts_.fetch_add(one_asleep - one_searching, std::memory_order_seq_cst);
    }
    if (!needs_fence_) base::heavy_barrier();
  }

  /// Sleeps until it is woken or the time has come (max: no limit).
  void sleep(bed& b, std::chrono::steady_clock::time_point until) noexcept {
    if (until == std::chrono::steady_clock::time_point::max()) return b.signal.wait();
    b.signal.wait_until(until);
  }

  /// Back from lie_down: the worker searches again. Whoever woke it is done with the bed by then.
  void rise(bed& b) {
    const std::lock_guard lock(mutex_);
    take(b);
  }

  /// Wakes this very worker if it sleeps.
  void wake(bed& b) noexcept {
    const std::lock_guard lock(mutex_);
    if (take(b)) signal(b);
  }

  void wake_all() noexcept {
    const std::lock_guard lock(mutex_);
    while (!beds_.empty()) signal(take_last());
  }

 private:
  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_asleep = std::uint64_t{1} << 32;
  static std::uint64_t asleep(std::uint64_t counts) noexcept { return counts >> 32; }
  static std::uint64_t searching(std::uint64_t counts) noexcept { return counts & 0xffffffffu; }

  PLAIT_NOINLINE void wake_one() noexcept {
    const std::lock_guard lock(mutex_);
    if (beds_.empty() || searching(counts_.load(std::memory_order_seq_cst)) != 0) return;
    signal(take_last());
  }

  // All below hold the lock, signalling too: else a worker could go on, and its pool end, while its waker is still at work.
  bool take(bed& b) noexcept {
    const auto found = std::find(beds_.begin(), beds_.end(), &b);
    if (found == beds_.end()) return false;
    beds_.erase(found);
    counts_.fetch_sub(one_asleep - one_searching, std::memory_order_seq_cst);
    return true;
  }
  bed& take_last() noexcept {
    auto& b = *beds_.back();
    beds_.pop_back();
    counts_.fetch_sub(one_asleep - one_searching, std::memory_order_seq_cst);
    return b;
  }
  static void signal(bed& b) noexcept {
    b.signal.set();
    if (b.rouse != nullptr) b.rouse(b.rouse_argument);
  }

  const bool needs_fence_;
  alignas(64) std::atomic<std::uint64_t> counts_{0};
  alignas(64) std::mutex mutex_;
  std::vector<bed*> beds_;
};

}  // namespace plait::sched
