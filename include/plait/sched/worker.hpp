// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/thread_slot.hpp>
#include <plait/base/topology.hpp>
#include <plait/obs/counters.hpp>
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>
#include <plait/sched/job_queue.hpp>
#include <plait/sched/parking.hpp>
#include <plait/sched/unit.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <utility>

namespace plait::sched {

/// One worker: its queues, what it runs now, and how much stack it may use. The pool drives it (pool.hpp, drive.hpp).
class alignas(64) worker {
 public:
  worker(pool& home, unsigned index) noexcept
      : home_(home), index_(index), random_(index * 0x9e3779b97f4a7c15u + 1) {}
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  deque own;         ///< continuations and spawned tasks: they can't leave the process
  deque submitted;   ///< submitted tasks: they can
  job_queue inbox;   ///< bound to this worker, from any thread
  job_queue placed;  ///< submitted tasks that would rather run here; thieves may take them
  job_queue fifo;    ///< jobs that gave way; thieves may take them
  unit* current = nullptr;  ///< the unit that runs now, or null
  std::uint32_t steps = 0;  ///< of its loops
  parking_lot::bed bed;
  obs::worker_counters counters;

  pool& home() const noexcept { return home_; }
  /// Its number within the pool.
  unsigned index() const noexcept { return index_; }

  /// The worker that the calling thread is, or null.
  PLAIT_ALWAYS_INLINE static worker* of_this_thread() noexcept { return static_cast<worker*>(base::thread_worker()); }

  /// xorshift64*, Vigna 2016.
  std::uint64_t random() noexcept {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return random_ * 0x2545f4914f6cdd1du;
  }

  /// The next job from the worker's own queues, or null.
  job* next_own() {
    if (auto* j = own.pop()) return j;
    if (auto* j = next_bound()) return j;
    if (auto* j = submitted.pop()) return j;
    if (auto* j = take_first(placed, submitted)) return j;
    return take_first(fifo, own);
  }

  /// The next job that is bound to this worker, or null.
  job* next_bound() noexcept {
    if (bound_ == nullptr) bound_ = inbox.take_all();
    return bound_ == nullptr ? nullptr : std::exchange(bound_, bound_->next_job);
  }
  bool has_bound() const noexcept { return bound_ != nullptr || !inbox.empty(); }

  /// Empties a queue, of its own or another worker: gives the oldest job, or null, and moves the rest to one of its own deques
  /// so that the next oldest comes next.
  job* take_first(job_queue& from, deque& rest) {
    auto* first = from.take_all();
    if (first == nullptr) return nullptr;
    job* newest = nullptr;
    for (auto* j = first->next_job; j != nullptr;) newest = std::exchange(j, std::exchange(j->next_job, newest));
    while (newest != nullptr) rest.push(std::exchange(newest, newest->next_job));
    return first;
  }

  void execute(job* j) noexcept {
    j->execute(j, *this);
    drain_stash();
    current = nullptr;
  }

  /// Resumes a coroutine, on top of the stack, until control comes back.
  void resume(std::coroutine_handle<> h) noexcept {
    h.resume();
    drain_stash();
  }

  /// What await_suspend returns to go on with `h`: `h` itself, or, where that would let the stack grow without end, a
  /// coroutine that does nothing; the loop that resumed us then resumes `h`.
  PLAIT_ALWAYS_INLINE static std::coroutine_handle<> transfer(worker* w, std::coroutine_handle<> h) noexcept {
#if !PLAIT_TAIL_TRANSFER
    if (w != nullptr && static_cast<char*>(__builtin_frame_address(0)) < w->transfer_floor_) [[unlikely]] {
      w->stashed_ = h;
      return std::noop_coroutine();
    }
#else
    (void)w;
#endif
    return h;
  }

  /// The stack that a loop of this worker may use; loops nest when a blocking wait helps.
  class stack_scope {
   public:
    explicit stack_scope(worker& w) noexcept : worker_(w), saved_floor_(w.transfer_floor_), saved_current_(w.current) {
      w.transfer_floor_ = std::max(static_cast<char*>(__builtin_frame_address(0)) - transfer_stack, w.help_floor_);
      w.current = nullptr;
    }
    ~stack_scope() {
      worker_.transfer_floor_ = saved_floor_;
      worker_.current = saved_current_;
    }
    stack_scope(const stack_scope&) = delete;
    stack_scope& operator=(const stack_scope&) = delete;

   private:
    worker& worker_;
    char* saved_floor_;
    unit* saved_current_;
  };

  /// Whether a blocking wait may still run tasks on top of the stack.
  bool may_help() const noexcept { return static_cast<char*>(__builtin_frame_address(0)) > help_floor_; }

  /// Makes the calling thread this worker, until the scope ends.
  class thread_scope {
   public:
    explicit thread_scope(worker& w) noexcept : before_(base::thread_worker()) {
      auto* floor = base::stack_floor();
      auto* here = static_cast<char*>(__builtin_frame_address(0));
      // A third of what is left, at most 256 KiB, stays for user code on top of the deepest wait.
      if (floor != nullptr) w.help_floor_ = floor + std::min<std::ptrdiff_t>((here - floor) / 3, 256 * 1024);
      base::set_thread_worker(&w);
    }
    ~thread_scope() { base::set_thread_worker(before_); }
    thread_scope(const thread_scope&) = delete;
    thread_scope& operator=(const thread_scope&) = delete;

   private:
    void* before_;
  };

 private:
  static constexpr std::ptrdiff_t transfer_stack = 64 * 1024;

  void drain_stash() noexcept {
    while (stashed_) std::exchange(stashed_, {}).resume();
  }

  pool& home_;
  unsigned index_;
  std::uint64_t random_;
  std::coroutine_handle<> stashed_;
  job* bound_ = nullptr;  ///< taken from the inbox, in order
  char* transfer_floor_ = nullptr;
  char* help_floor_ = nullptr;
};

}  // namespace plait::sched
