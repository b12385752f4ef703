// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/sync/sync_awaiter.hpp>

#include <coroutine>
#include <cstddef>
#include <mutex>

PLAIT_INTERFACE

namespace plait {

/// std::latch for tasks: who waits until the count is zero suspends the task and not the thread. It must live until all
/// who wait have gone on. Any thread may count down and try; `co_await` what wait and arrive_and_wait give.
class async_latch {
  class awaiter;
  class operation;

 public:
  /// Throws plait::error if the count is negative.
  explicit async_latch(std::ptrdiff_t expected) : left_(expected) {
    if (expected < 0) throw error("plait: an async_latch can't have a negative count");
  }
  async_latch(const async_latch&) = delete;
  async_latch& operator=(const async_latch&) = delete;
  /// Ends the program if tasks still wait.
  ~async_latch() { detail::require_no_waiters(queue_, "an async_latch"); }

  /// Lowers the count; at zero all who wait go on. Any thread. Throws plait::error, and counts nothing, if the count
  /// is lower than that.
  void count_down(std::ptrdiff_t n = 1) { arrive(n); }
  /// Whether the count is zero. Any thread.
  bool try_wait() const noexcept {
    const std::lock_guard hold(lock_);
    return left_ == 0;
  }
  /// `co_await` it: goes on when the count is zero. cancelled_error after a request to stop.
  operation wait() const noexcept;
  /// `co_await` it: count_down(n), then wait(). What it has counted stays counted if the wait is cancelled.
  operation arrive_and_wait(std::ptrdiff_t n = 1) noexcept;

 private:
  /// Whether the count is zero now.
  bool arrive(std::ptrdiff_t n) const {
    sched::job* woken = nullptr;
    bool zero = false;
    {
      const std::lock_guard hold(lock_);
      if (n < 0 || n > left_) throw error("plait: an async_latch was counted down below zero, or by less than zero");
      left_ -= n;
      zero = left_ == 0;
      if (zero) woken = queue_.take_all();
    }
    detail::resume_all(woken);  // the latch may have ended
    return zero;
  }

  mutable base::spin_lock lock_;
  mutable detail::suspension_queue queue_;
  mutable std::ptrdiff_t left_;
};

class async_latch::awaiter final : public detail::sync_awaiter {
 public:
  awaiter(const async_latch& latch, std::ptrdiff_t n) noexcept
      : sync_awaiter(latch.lock_, latch.queue_), latch_(latch), n_(n) {}

  bool await_ready() const { return latch_.arrive(n_); }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    const std::lock_guard hold(lock_);
    if (latch_.left_ != 0) return queue_.push_back(*this);
    queue_.pass(*this);
    return false;
  }
  void await_resume() { finish(); }

 private:
  const async_latch& latch_;
  std::ptrdiff_t n_;
};

class [[nodiscard("nothing waits before co_await")]] async_latch::operation {
 public:
  operation(const async_latch& latch, std::ptrdiff_t n) noexcept : latch_(&latch), n_(n) {}
  awaiter operator co_await() const noexcept { return awaiter(*latch_, n_); }

 private:
  const async_latch* latch_;
  std::ptrdiff_t n_;
};

inline async_latch::operation async_latch::wait() const noexcept { return operation(*this, 0); }
inline async_latch::operation async_latch::arrive_and_wait(std::ptrdiff_t n) noexcept { return operation(*this, n); }

}  // namespace plait
