// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/mutex.hpp>
#include <plait/sched/job.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

PLAIT_INTERFACE

namespace plait::sched {

/// Something that is to happen at a time.
struct timer {
  std::chrono::steady_clock::time_point when;
  /// The time has come and it is out of the queue: gives what resumes who waits. Called under the queue's mutex.
  waiter* (*fire)(timer*) noexcept;
  std::size_t place;  ///< in the heap
};

/// The timers of a pool: a binary heap, the earliest first.
class timer_queue {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Guards the queue, and the state of who waits.
  base::mutex& mutex() noexcept { return mutex_; }

  /// When the first one is due, max if there is none. Any thread, without the mutex.
  time_point next() const noexcept {
    return time_point(time_point::duration(next_.load(std::memory_order_seq_cst)));  // partner: pool's timekeeper
  }
  /// The same, of a moment ago, for who looks often.
  bool any_due(time_point now) const noexcept {
    // relaxed: who adds an earlier one wakes who sleeps; who is awake looks again soon
    return next_.load(std::memory_order_relaxed) <= now.time_since_epoch().count();
  }
  bool any() const noexcept { return next_.load(std::memory_order_relaxed) != never; }  // as any_due

  /// By the holder of the mutex. Makes room for one more. Throws std::bad_alloc.
  void reserve() {
    if (heap_.size() == heap_.capacity()) heap_.reserve(2 * heap_.size() + 16);
  }
  /// By the holder of the mutex, after reserve. True if it is the earliest now.
  bool add(timer& t) noexcept {
    heap_.push_back(&t);
    rise(heap_.size() - 1);
    return note();
  }
  /// By the holder of the mutex: one that is in the queue.
  void remove(timer& t) noexcept {
    const auto hole = t.place;
    auto* last = heap_.back();
    heap_.pop_back();
    if (last != &t) {
      put(hole, last);
      rise(hole);
      sink(last->place);
    }
    note();
  }
  /// Fires all that are due; gives what is to be resumed, linked by next_job, the earliest last: so that it is on top
  /// of the deque into which they are pushed.
  job* take_due(time_point now) noexcept {
    const std::lock_guard lock(mutex_);
    job* latest = nullptr;
    while (!heap_.empty() && heap_[0]->when <= now) {
      auto* t = heap_[0];
      remove(*t);
      auto* w = t->fire(t);
      if (w == nullptr) continue;
      w->next_job = latest;
      latest = w;
    }
    return latest;
  }

 private:
  static constexpr std::int64_t never = INT64_MAX;

  bool note() noexcept {
    const std::int64_t earliest = heap_.empty() ? never : heap_[0]->when.time_since_epoch().count();
    return next_.exchange(earliest, std::memory_order_seq_cst) > earliest;  // partner: next
  }
  void put(std::size_t i, timer* t) noexcept {
    heap_[i] = t;
    t->place = i;
  }
  void rise(std::size_t i) noexcept {
    auto* t = heap_[i];
    for (; i > 0 && t->when < heap_[(i - 1) / 2]->when; i = (i - 1) / 2) put(i, heap_[(i - 1) / 2]);
    put(i, t);
  }
  void sink(std::size_t i) noexcept {
    auto* t = heap_[i];
    for (;;) {
      auto below = 2 * i + 1;
      if (below >= heap_.size()) break;
      if (below + 1 < heap_.size() && heap_[below + 1]->when < heap_[below]->when) ++below;
      if (!(heap_[below]->when < t->when)) break;
      put(i, heap_[below]);
      i = below;
    }
    put(i, t);
  }

  base::mutex mutex_;
  base::growing_array<timer*> heap_;
  base::atomic<std::int64_t> next_{never};
};

}  // namespace plait::sched
