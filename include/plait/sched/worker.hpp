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
  std::uint32_t serve_mask = 63;  ///< it serves when these bits of steps are zero
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
    if (auto* j = next_above()) return j;
    if (auto* j = next_bound()) return j;
    if (auto* j = submitted.pop()) return j;
    if (auto* j = take_first(placed, submitted)) return j;
    return take_first(fifo, own);
  }

  /// The newest job of its own deque that may run on top of this stack, or null. Inside a blocking wait the continuations
  /// that were there before it may not: they belong to tasks that lie below on this very stack, or started those, and if such
  /// a task then waited for one of them, neither could go on.
  job* next_above() noexcept {
    if (own.mark() > wait_mark_) [[likely]]
      return own.pop();
    if (own.newest_is_continuation()) return nullptr;
    return newest_of_all();
  }
  /// The newest job of its own deque, whatever it is, or null.
  job* newest_of_all() noexcept {
    auto* j = own.pop();
    if (wait_mark_ > own.mark()) wait_mark_ = own.mark();
    return j;
  }
  /// Whether next_above would find something, or has_bound.
  bool has_own() const noexcept {
    return has_bound() || (own.size() > 0 && (own.mark() > wait_mark_ || !own.newest_is_continuation()));
  }

  /// Whether it works inside a blocking wait.
  bool helping() const noexcept { return wait_mark_ >= 0; }
  parking_lot::role role() const noexcept { return helping() ? parking_lot::role::helper : parking_lot::role::free; }
  /// What it may steal: inside a blocking wait no continuations, see next_above; nothing where half of the stack is used,
  /// so that tasks which have nothing to do with the wait do not pile up until the stack is too short for those that have.
  bool may_steal() const noexcept { return !helping() || static_cast<char*>(__builtin_frame_address(0)) > steal_floor_; }
  jobs stealable() const noexcept { return helping() ? jobs::fresh : jobs::all; }

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

  /// What a loop of this worker runs on: the worker's own stack, or that of a task that waits.
  enum class loop { free, waiting };

  /// The stack that a loop of this worker may use; loops nest when a blocking wait helps.
  class stack_scope {
   public:
    stack_scope(worker& w, loop kind) noexcept
        : worker_(w), floor_(w.transfer_floor_), current_(w.current), wait_mark_(w.wait_mark_), outer_(w.innermost_) {
      auto* lowest = static_cast<char*>(__builtin_frame_address(0)) - transfer_stack;
      w.transfer_floor_ = lowest > w.help_floor_ ? lowest : w.help_floor_;
      w.current = nullptr;
      w.wait_mark_ = kind == loop::waiting ? w.own.mark() : no_mark;
      w.innermost_ = this;
    }
    ~stack_scope() {
      worker_.transfer_floor_ = floor_;
      worker_.current = current_;
      const auto mark = worker_.own.mark();
      worker_.wait_mark_ = wait_mark_ < mark ? wait_mark_ : mark;  // what ran meanwhile may have emptied it
      worker_.innermost_ = outer_;
    }
    stack_scope(const stack_scope&) = delete;
    stack_scope& operator=(const stack_scope&) = delete;

   private:
    friend worker;
    worker& worker_;
    char* floor_;
    unit* current_;
    std::int64_t wait_mark_;
    stack_scope* outer_;
  };

  /// Whether the unit is in a blocking wait further down on this thread's stack: it can't go on before what runs now ends.
  bool is_buried(const unit* u) const noexcept {
    for (auto* scope = innermost_; scope != nullptr; scope = scope->outer_) {
      if (scope->current_ == u) return true;
    }
    return false;
  }

  /// Whether a blocking wait may still run tasks on top of the stack.
  bool may_help() const noexcept { return static_cast<char*>(__builtin_frame_address(0)) > help_floor_; }

  /// Makes the calling thread this worker, until the scope ends.
  class thread_scope {
   public:
    explicit thread_scope(worker& w) noexcept : before_(base::thread_worker()) {
      auto* floor = base::stack_floor();
      auto* here = static_cast<char*>(__builtin_frame_address(0));
      if (floor != nullptr) {
        // A third of what is left, at most 256 KiB, stays for user code on top of the deepest wait.
        const auto reserve = (here - floor) / 3;
        w.help_floor_ = floor + (reserve < 256 * 1024 ? reserve : 256 * 1024);
        w.steal_floor_ = floor + (here - floor) / 2;
      }
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
  static constexpr std::int64_t no_mark = -1;

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
  char* steal_floor_ = nullptr;
  std::int64_t wait_mark_ = no_mark;    ///< in a blocking wait: where its own deque ended when the wait began, or below
  stack_scope* innermost_ = nullptr;  ///< of its loops
};

}  // namespace plait::sched
