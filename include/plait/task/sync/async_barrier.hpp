// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/sync/sync_awaiter.hpp>

#include <coroutine>
#include <cstddef>
#include <mutex>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {
struct no_completion {
  void operator()() const noexcept {}
};
}  // namespace detail

/// std::barrier for tasks: a number of them wait for each other, phase after phase. The last to arrive calls the
/// completion function, in its own thread, before the others go on and the next phase begins. It must live until all
/// who wait have gone on.
template <class Completion = detail::no_completion>
class async_barrier {
  class awaiter;
  class operation;

 public:
  /// expected: how many arrive in each phase. Throws plait::error if it is negative.
  explicit async_barrier(std::ptrdiff_t expected, Completion completion = Completion())
      : expected_(expected), left_(expected), completion_(std::move(completion)) {
    if (expected < 0) throw error("plait: an async_barrier can't be for a negative number of tasks");
  }
  async_barrier(const async_barrier&) = delete;
  async_barrier& operator=(const async_barrier&) = delete;
  /// Ends the program if tasks still wait.
  ~async_barrier() { detail::require_no_waiters(queue_, "an async_barrier"); }

  /// `co_await` it: arrives, and goes on when all have. cancelled_error after a request to stop; then it has not
  /// arrived. What the completion function throws, who arrived last gets; the others go on as usual. Throws
  /// plait::error if more arrive than expected.
  operation arrive_and_wait() noexcept { return operation(*this); }
  /// Arrives for the last time: later phases expect one less. Any thread. Throws as arrive_and_wait does.
  void arrive_and_drop() {
    sched::job* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (left_ == 0) throw_too_many();
      --expected_;
      if (--left_ != 0) return;
      woken = queue_.take_all();
    }
    complete(woken);
  }

 private:
  [[noreturn]] static void throw_too_many() {
    throw error("plait: more tasks arrived at an async_barrier than it was made for");
  }

  /// If it is the last to arrive, which the caller is about to be. By the holder of the lock.
  bool is_last() const {
    if (left_ == 0) throw_too_many();
    return left_ == 1;
  }
  sched::job* end_phase() noexcept {
    left_ = 0;  // until the next phase begins nobody can arrive
    return queue_.take_all();
  }
  /// Without the lock.
  void complete(sched::job* woken) {
    struct next_phase {
      async_barrier& of;
      sched::job* waiting;
      ~next_phase() {
        of.lock_.lock();
        of.left_ = of.expected_;
        of.lock_.unlock();
        detail::resume_all(waiting);  // the barrier may have ended
      }
    };
    const next_phase afterwards{*this, woken};
    completion_();
  }

  base::spin_lock lock_;
  detail::suspension_queue queue_;
  std::ptrdiff_t expected_;
  std::ptrdiff_t left_;  ///< that have not arrived in this phase
  [[no_unique_address]] Completion completion_;
};

template <class Completion>
class async_barrier<Completion>::awaiter final : public detail::sync_awaiter {
 public:
  explicit awaiter(async_barrier& barrier) noexcept : sync_awaiter(barrier.lock_, barrier.queue_), barrier_(barrier) {}

  bool await_ready() {
    sched::job* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (!barrier_.is_last()) return false;
      woken = barrier_.end_phase();
    }
    barrier_.complete(woken);
    return true;
  }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    try {
      sched::job* woken = nullptr;
      {
        const std::lock_guard hold(lock_);
        if (!barrier_.is_last()) {
          if (!queue_.push_back(*this)) return false;
          --barrier_.left_;
          return true;
        }
        if (!queue_.pass(*this)) return false;
        woken = barrier_.end_phase();
      }
      barrier_.complete(woken);
      return false;
    } catch (...) {
      abandon();
      throw;
    }
  }
  void await_resume() { finish(); }

 private:
  detail::waiter* interrupt() noexcept override {
    const std::lock_guard hold(lock_);
    auto* w = queue_.withdraw(*this);
    if (w != nullptr) ++barrier_.left_;
    return w;
  }

  async_barrier& barrier_;
};

template <class Completion>
class [[nodiscard("nothing waits before co_await")]] async_barrier<Completion>::operation {
 public:
  explicit operation(async_barrier & barrier) noexcept : barrier_(&barrier) {}
  awaiter operator co_await() const noexcept { return awaiter(*barrier_); }

 private:
  async_barrier* barrier_;
};

}  // namespace plait
