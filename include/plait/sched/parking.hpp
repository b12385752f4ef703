// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/heavy_barrier.hpp>
#include <plait/base/mutex.hpp>
#include <plait/base/pause.hpp>
#include <plait/base/thread_signal.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

PLAIT_INTERFACE

namespace plait::sched {

/// Where workers sleep that found nothing. Pushing a job costs one load as long as nobody sleeps or somebody searches.
///
/// The race to win: a worker pushes a job and sees nobody asleep, while another looks at all queues, sees nothing and
/// goes to sleep. The one that goes to sleep counts itself first and looks again after `heavy_barrier`, which makes
/// every push whose load came before the barrier visible to it, and every later load see the count. Without
/// membarrier(2) pushes pay for the order themselves.
///
/// Workers that only help, inside a blocking wait, do not take everything (see worker.hpp), so they are counted apart:
/// what they can't take must wake another.
class parking_lot {
 public:
  enum class role : std::uint8_t {
    free,
    helper,
    deep,  ///< helps, but may not steal: pushes do not count on it, and only what lies for all to take wakes it
  };

  /// One worker's bed. `rouse`, where it is set, is called after the signal: the worker sleeps somewhere else then,
  /// where it also hears messages. The worker writes it only while it is up.
  struct bed {
    base::thread_signal signal;
    void (*rouse)(void*) = nullptr;
    void* rouse_argument = nullptr;

   private:
    friend parking_lot;
    bed* before = nullptr;
    bed* after = nullptr;
    role kind = role::free;
    bool in_use = false;
  };

  parking_lot() {
    if (!base::register_heavy_barrier())
      counts_.store(fence_needed, std::memory_order_relaxed);  // nobody else has it yet
  }

  /// After a push that any worker can take: wakes one if some sleep and none searches.
  PLAIT_ALWAYS_INLINE void notify() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);       // keeps the compiler from loading before the push
    const auto now = counts_.load(std::memory_order_relaxed);  // see the race above
    if (now >= one_asleep && ((now & anyone_searching) == 0 || now >= fence_needed)) [[unlikely]]
      wake_one(role::helper);
  }
  /// After a push into a queue that every worker looks into.
  void notify_all_kinds() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);       // as above
    const auto now = counts_.load(std::memory_order_relaxed);  // see the race above
    if (now >= one_deep_asleep && ((now & anyone_searching) == 0 || now >= fence_needed)) wake_one(role::deep);
  }
  /// After a push that only free workers can take.
  PLAIT_ALWAYS_INLINE void notify_free() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);       // as above
    const auto now = counts_.load(std::memory_order_relaxed);  // see the race above
    if (now >= one_free_asleep && ((now & free_searching) == 0 || now >= fence_needed)) [[unlikely]]
      wake_one(role::free);
  }

  void begin_search(role r) noexcept { counts_.fetch_add(searching(r), std::memory_order_seq_cst); }
  /// Ends a search. True if workers sleep and no free one searches any more: what was pushed meanwhile may have woken
  /// nobody.
  bool end_search(role r) noexcept {
    const auto now = counts_.fetch_sub(searching(r), std::memory_order_seq_cst) - searching(r);
    return (now & ~fence_needed) >= one_deep_asleep && (now & free_searching) == 0;
  }
  /// Before a look at the queues after end_search: makes all pushes visible that saw this worker searching.
  void see_pushes() noexcept {
    if (!needs_fence()) base::heavy_barrier();
  }
  /// How many workers sleep.
  std::uint64_t sleepers() const noexcept { return sleepers_of(counts_.load(std::memory_order_seq_cst)); }

  /// How many have nothing to do: they sleep, or look for work. One that is `deep` counts only while it sleeps.
  std::uint64_t at_rest() const noexcept {
    const auto now = counts_.load(std::memory_order_seq_cst);
    return (now & field) + (now / searching(role::helper) & field) + sleepers_of(now);
  }
  /// How many of those are inside a blocking wait.
  std::uint64_t helpers_at_rest() const noexcept {
    const auto now = counts_.load(std::memory_order_seq_cst);
    return (now / searching(role::helper) & field) + (now / asleep(role::helper) & field) +
           (now / asleep(role::deep) & field);
  }

  /// Called by a searching worker, which counts as asleep afterwards and must then look at all queues once more, and
  /// either sleep and `rise`, or only `rise`. `first_to_wake` false: it is woken after all others.
  void lie_down(bed& b, role r, bool first_to_wake) noexcept {
    b.signal.reset();
    {
      const std::lock_guard lock(mutex_);
      b.kind = r;
      insert(b, first_to_wake && r == role::free);
      counts_.fetch_add(asleep(r) - searching(r), std::memory_order_seq_cst);
    }
    see_pushes();
  }

  /// Sleeps until it is woken or the time has come (max: no limit).
  void sleep(bed& b, std::chrono::steady_clock::time_point until) noexcept {
    if (until == std::chrono::steady_clock::time_point::max()) return b.signal.wait();
    b.signal.wait_until(until);
  }

  /// Back from lie_down: the worker searches again. Whoever woke it is done with the bed by then.
  void rise(bed& b) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (take(b)) return;
    }
    for (base::backoff turns; !b.signal.is_set();) turns.wait();  // who has taken it is about to
  }

  /// Wakes this very worker if it sleeps.
  void wake(bed& b) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!take(b) || roused(b)) return;
    }
    b.signal.set();
  }

  /// Sets what this worker looks for, and wakes it if it sleeps. Who has seen it set may end all this after settle().
  void set_and_wake(base::thread_signal& what, bed& b) noexcept {
    const std::lock_guard lock(mutex_);
    what.set();
    if (take(b)) signal(b);
  }
  /// Nobody is in the middle of set_and_wake any more.
  void settle() noexcept { const std::lock_guard lock(mutex_); }

  /// After a job was put aside: a free worker can take it, and who helps may be allowed to, which only it knows.
  void wake_for_aside() noexcept {
    const std::lock_guard lock(mutex_);
    auto* found = last_;
    while (found != nullptr && found->kind != role::free) found = found->before;
    if (found != nullptr) {
      take(*found);
      signal(*found);
      return;
    }
    for (auto* b = last_; b != nullptr;) {
      auto* const next = b->before;
      if (b->kind == role::helper) {
        take(*b);
        signal(*b);
      }
      b = next;
    }
  }

  void wake_all() noexcept {
    const std::lock_guard lock(mutex_);
    while (last_ != nullptr) {
      auto& b = *last_;
      take(b);
      signal(b);
    }
  }

 private:
  // Five counts of 12 bits. Without membarrier(2) the highest bit sends every push the slow way, which has the order
  // that the barrier gives otherwise.
  static constexpr std::uint64_t field = 0xfff;
  static constexpr std::uint64_t searching(role r) noexcept {
    return r == role::deep ? 0 : std::uint64_t{1} << (r == role::helper ? 12 : 0);
  }
  static constexpr std::uint64_t asleep(role r) noexcept {
    return std::uint64_t{1} << (r == role::deep ? 24 : r == role::helper ? 36 : 48);
  }
  static constexpr std::uint64_t free_searching = field;
  static constexpr std::uint64_t anyone_searching = field | field << 12;
  static constexpr std::uint64_t one_deep_asleep = std::uint64_t{1} << 24;
  static constexpr std::uint64_t one_asleep = std::uint64_t{1} << 36;
  static constexpr std::uint64_t one_free_asleep = std::uint64_t{1} << 48;
  static constexpr std::uint64_t fence_needed = std::uint64_t{1} << 63;

  static constexpr std::uint64_t sleepers_of(std::uint64_t counts) noexcept {
    return (counts / asleep(role::deep) & field) + (counts / asleep(role::helper) & field) +
           (counts / asleep(role::free) & field);
  }

  bool needs_fence() const noexcept {
    return (counts_.load(std::memory_order_relaxed) & fence_needed) != 0;
  }  // constant

  /// least: role::free wakes only a free worker, role::helper a free one if there is one, else a helper, role::deep
  /// anyone.
  PLAIT_NOINLINE void wake_one(role least) noexcept {
    if (needs_fence() && (counts_.fetch_add(0, std::memory_order_seq_cst) & ~fence_needed) < one_deep_asleep) return;
    bed* chosen = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto now = counts_.load(std::memory_order_seq_cst);
      if ((now & (least == role::free ? free_searching : anyone_searching)) != 0) return;
      for (auto* b = last_; b != nullptr; b = b->before) {
        if (b->kind <= least && (chosen == nullptr || b->kind < chosen->kind)) chosen = b;
      }
      if (chosen == nullptr) return;
      take(*chosen);
      if (roused(*chosen)) return;
    }
    chosen->signal.set();  // without the lock, which the woken one takes first
  }

  // All below hold the lock, signalling too: else a worker could go on, and its pool end, while its waker is still at
  // work. Only where nothing but the signal is touched any more it is set later: `rise` waits for it.
  void insert(bed& b, bool at_end) noexcept {
    b.before = at_end ? last_ : nullptr;
    b.after = at_end ? nullptr : first_;
    (b.before != nullptr ? b.before->after : first_) = &b;
    (b.after != nullptr ? b.after->before : last_) = &b;
    b.in_use = true;
  }
  bool take(bed& b) noexcept {
    if (!b.in_use) return false;
    (b.before != nullptr ? b.before->after : first_) = b.after;
    (b.after != nullptr ? b.after->before : last_) = b.before;
    b.in_use = false;
    counts_.fetch_sub(asleep(b.kind) - searching(b.kind), std::memory_order_seq_cst);  // counted as searching again
    return true;
  }
  static void signal(bed& b) noexcept {
    if (!roused(b)) b.signal.set();
  }
  /// Signals it if it sleeps where it also hears messages. False if not.
  static bool roused(bed& b) noexcept {
    if (b.rouse == nullptr) return false;
    b.signal.set();
    b.rouse(b.rouse_argument);
    return true;
  }

  alignas(64) base::atomic<std::uint64_t> counts_{0};
  alignas(64) base::mutex mutex_;
  bed* first_ = nullptr;
  bed* last_ = nullptr;
};

}  // namespace plait::sched
