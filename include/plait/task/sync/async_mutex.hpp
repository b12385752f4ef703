// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/task/sync/sync_awaiter.hpp>

#include <atomic>
#include <coroutine>
#include <mutex>
#include <utility>

PLAIT_INTERFACE

namespace plait {

/// A mutex for tasks, which may hold it across suspensions: it belongs to whoever has locked it, and not to a thread.
/// In order of arrival: unlock hands it over to the task that has waited longest. Not recursive. It must live until all
/// who wait have gone on. Do not use std::lock_guard or std::unique_lock: they would not await lock().
class async_mutex {
  class awaiter;
  class scoped_awaiter;
  class operation;
  class scoped_operation;

 public:
  /// Unlocks at its end.
  class [[nodiscard("without a name it unlocks at once")]] guard {
   public:
    guard() noexcept {}  // as in task_group
    /// Takes over a lock that the caller has.
    explicit guard(async_mutex & locked) noexcept : mutex_(&locked) {}
    guard(guard && other) noexcept : mutex_(base::exchange(other.mutex_, nullptr)) {}
    guard& operator=(guard other) noexcept {
      std::swap(mutex_, other.mutex_);
      return *this;
    }
    ~guard() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    bool owns_lock() const noexcept { return mutex_ != nullptr; }
    /// Before the end.
    void unlock() {
      if (auto* m = base::exchange(mutex_, nullptr)) m->unlock();
    }

   private:
    async_mutex* mutex_ = nullptr;
  };

  async_mutex() noexcept {}  // as in task_group
  async_mutex(const async_mutex&) = delete;
  async_mutex& operator=(const async_mutex&) = delete;
  /// Ends the program if tasks still wait.
  ~async_mutex() { detail::require_no_waiters(queue_, "an async_mutex"); }

  /// `co_await` it: goes on with the lock. cancelled_error after a request to stop, without the lock.
  operation lock() noexcept;
  /// The same; gives a guard that unlocks.
  scoped_operation scoped_lock() noexcept;
  /// Any thread.
  bool try_lock() noexcept {
    auto expected = state::free;
    // acquire: what the last holder has done; partner: unlock. relaxed on failure: nothing is read
    return state_.compare_exchange_strong(expected, state::locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  /// Any thread, for whoever has locked it. Throws plait::error if nobody has.
  void unlock() {
    for (;;) {
      auto expected = state::locked;
      // release: what this holder has done; partner: try_lock. The mutex may have ended afterwards
      if (state_.compare_exchange_strong(expected, state::free, std::memory_order_release, std::memory_order_relaxed))
        return;
      if (expected == state::free) throw error("plait: an async_mutex was unlocked that nobody had locked");
      detail::suspension* next = nullptr;
      {
        const std::lock_guard hold(lock_);
        next = queue_.pop_front();
        // with nobody left it is unlocked above: the last access to it, since who locks it then may end it
        if (queue_.empty())
          state_.store(state::locked, std::memory_order_relaxed);  // its holder does it, with the lock
      }
      if (next == nullptr) continue;
      detail::resume_later(next);
      return;
    }
  }

 private:
  enum class state : unsigned char { free, locked, contended };

  /// Locks it if it is free; otherwise unlock looks at the queue from now on. By the holder of lock_.
  bool lock_or_contend() noexcept {
    for (auto s = state_.load(std::memory_order_relaxed);;) {  // only compared
      if (s == state::contended) return false;
      const auto next = s == state::free ? state::locked : state::contended;
      // acquire: see try_lock; relaxed on failure: only compared
      if (state_.compare_exchange_weak(s, next, std::memory_order_acquire, std::memory_order_relaxed))
        return next == state::locked;
    }
  }

  base::atomic<state> state_{state::free};
  base::spin_lock lock_;
  detail::suspension_queue queue_;
};

class async_mutex::awaiter : public detail::sync_awaiter {
 public:
  explicit awaiter(async_mutex& mutex) noexcept : sync_awaiter(mutex.lock_, mutex.queue_), mutex_(mutex) {}

  bool await_ready() const noexcept { return mutex_.try_lock(); }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    const std::lock_guard hold(lock_);
    if (!queue_.pass(*this) || mutex_.lock_or_contend()) return false;
    return queue_.push_back(*this);
  }
  void await_resume() { finish(); }

 protected:
  async_mutex& mutex_;
};

class async_mutex::scoped_awaiter final : public awaiter {
 public:
  using awaiter::awaiter;
  guard await_resume() {
    finish();
    return guard(mutex_);
  }
};

class [[nodiscard("nothing is locked before co_await")]] async_mutex::operation {
 public:
  explicit operation(async_mutex & mutex) noexcept : mutex_(&mutex) {}
  awaiter operator co_await() const noexcept { return awaiter(*mutex_); }

 private:
  async_mutex* mutex_;
};

class [[nodiscard("nothing is locked before co_await")]] async_mutex::scoped_operation {
 public:
  explicit scoped_operation(async_mutex & mutex) noexcept : mutex_(&mutex) {}
  scoped_awaiter operator co_await() const noexcept { return scoped_awaiter(*mutex_); }

 private:
  async_mutex* mutex_;
};

inline async_mutex::operation async_mutex::lock() noexcept { return operation(*this); }
inline async_mutex::scoped_operation async_mutex::scoped_lock() noexcept { return scoped_operation(*this); }

}  // namespace plait
