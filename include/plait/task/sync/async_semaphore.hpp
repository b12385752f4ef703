// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/sync/sync_awaiter.hpp>

#include <coroutine>
#include <cstddef>
#include <limits>
#include <mutex>

PLAIT_INTERFACE

namespace plait {

/// A counting semaphore for tasks. In order of arrival: one that waits for many permits is not overtaken by those that
/// want fewer. It must live until all who wait have gone on.
class async_semaphore {
  class awaiter;
  class operation;

 public:
  /// Throws plait::error if the number of permits is negative.
  explicit async_semaphore(std::ptrdiff_t permits) : permits_(permits) { require_not_negative(permits); }
  async_semaphore(const async_semaphore&) = delete;
  async_semaphore& operator=(const async_semaphore&) = delete;
  /// Ends the program if tasks still wait.
  ~async_semaphore() { detail::require_no_waiters(queue_, "an async_semaphore"); }

  /// `co_await` it: goes on with n permits, all taken at once. cancelled_error after a request to stop, without any.
  /// Throws plait::error if n is negative.
  operation acquire(std::ptrdiff_t n = 1) noexcept;
  /// Takes n permits if they are there and nobody waits. Any thread. Throws plait::error if n is negative.
  bool try_acquire(std::ptrdiff_t n = 1) {
    require_not_negative(n);
    const std::lock_guard hold(lock_);
    return queue_.empty() && take(n);
  }
  /// Gives n permits back, or new ones. Any thread. Throws plait::error if n is negative, or if there would be more
  /// than a std::ptrdiff_t counts.
  void release(std::ptrdiff_t n = 1) {
    require_not_negative(n);
    detail::wake_list woken;
    {
      const std::lock_guard hold(lock_);
      if (permits_ > std::numeric_limits<std::ptrdiff_t>::max() - n)
        throw error("plait: more permits were released to an async_semaphore than can be counted");
      permits_ += n;
      grant(woken);
    }
    woken.resume();  // the semaphore may have ended
  }

 private:
  static void require_not_negative(std::ptrdiff_t n) {
    if (n < 0) throw error("plait: a negative number of permits of an async_semaphore");
  }

  // By the holder of the lock:

  bool take(std::ptrdiff_t n) noexcept {
    if (n > permits_) return false;
    permits_ -= n;
    return true;
  }
  /// Gives permits to those who have waited longest.
  void grant(detail::wake_list& woken) noexcept;

  base::spin_lock lock_;
  detail::suspension_queue queue_;
  std::ptrdiff_t permits_;
};

class async_semaphore::awaiter final : public detail::sync_awaiter {
 public:
  awaiter(async_semaphore& semaphore, std::ptrdiff_t n) noexcept
      : sync_awaiter(semaphore.lock_, semaphore.queue_), semaphore_(semaphore), n_(n) {}

  bool await_ready() const { return semaphore_.try_acquire(n_); }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    const std::lock_guard hold(lock_);
    if (!queue_.pass(*this) || (queue_.empty() && semaphore_.take(n_))) return false;
    return queue_.push_back(*this);
  }
  void await_resume() { finish(); }

 private:
  friend async_semaphore;

  /// Those behind it may want fewer.
  detail::waiter* interrupt() noexcept override {
    detail::wake_list woken;
    detail::waiter* self = nullptr;
    {
      const std::lock_guard hold(lock_);
      self = queue_.withdraw(*this);
      if (self != nullptr) semaphore_.grant(woken);
    }
    woken.resume();
    return self;
  }

  async_semaphore& semaphore_;
  std::ptrdiff_t n_;
};

class [[nodiscard("nothing is acquired before co_await")]] async_semaphore::operation {
 public:
  operation(async_semaphore & semaphore, std::ptrdiff_t n) noexcept : semaphore_(&semaphore), n_(n) {}
  awaiter operator co_await() const noexcept { return awaiter(*semaphore_, n_); }

 private:
  async_semaphore* semaphore_;
  std::ptrdiff_t n_;
};

inline async_semaphore::operation async_semaphore::acquire(std::ptrdiff_t n) noexcept { return operation(*this, n); }

inline void async_semaphore::grant(detail::wake_list& woken) noexcept {
  while (auto* first = static_cast<awaiter*>(queue_.front())) {
    if (!take(first->n_)) return;
    woken.add(queue_.pop_front());
  }
}

}  // namespace plait
