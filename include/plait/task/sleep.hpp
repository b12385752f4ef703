// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/task/suspension.hpp>

#include <coroutine>
#include <mutex>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// Blocks the thread until a time point.
inline void sleep_here(std::chrono::steady_clock::time_point when) noexcept {
  for (auto left = base::time_until(when); left.count() > 0; left = base::time_until(when)) base::nap(left);
}

class sleeper final : suspension, sched::timer {
 public:
  using resumes_in_pool = void;

  explicit sleeper(std::chrono::steady_clock::time_point until) noexcept {
    when = until;
    fire = [](sched::timer* t) noexcept -> waiter* {
      auto& self = static_cast<sleeper&>(*t);
      self.take();
      return &self;
    };
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) {
    auto* w = worker::of_this_thread();
    if (w == nullptr) {
      sleep_here(when);
      return false;
    }
    auto& pool = w->home();
    pool_ = &pool;
    if (!begin(h)) return false;
    bool earliest = false;
    try {
      const std::lock_guard lock(pool.timers().mutex());
      pool.timers().reserve();
      if (!arrive()) return false;
      earliest = pool.timers().add(*this);  // from here on it may go on
    } catch (...) {
      abandon();
      throw;
    }
    if (earliest) pool.timer_added();
    return true;
  }
  void await_resume() { finish(); }

 private:
  waiter* interrupt() noexcept override {
    const std::lock_guard lock(pool_->timers().mutex());
    if (!withdraw()) return nullptr;
    pool_->timers().remove(*this);
    return this;
  }

  pool* pool_ = nullptr;
};

/// What `co_await` makes a sleeper of.
class [[nodiscard("nothing sleeps before co_await")]] sleep_operation {
 public:
  explicit sleep_operation(std::chrono::steady_clock::time_point until) noexcept : until_(until) {}
  sleeper operator co_await() const noexcept { return sleeper(until_); }

 private:
  std::chrono::steady_clock::time_point until_;
};

}  // namespace detail

/// `co_await sleep_until(t)` suspends the task until the time point has come; other tasks of the pool run meanwhile. It
/// is resumed by the first worker that is free then, so later than asked where all are in long user code. A request to
/// stop ends it with cancelled_error. In a thread that is no worker it blocks the thread.
inline detail::sleep_operation sleep_until(std::chrono::steady_clock::time_point when) noexcept {
  return detail::sleep_operation(when);
}
/// The same for another clock, whose time is compared once, now.
template <class Clock, class Duration>
detail::sleep_operation sleep_until(std::chrono::time_point<Clock, Duration> when) {
  return detail::sleep_operation(base::deadline_in(when - Clock::now()));
}
/// The same for a duration from now.
template <class Rep, class Period>
detail::sleep_operation sleep_for(std::chrono::duration<Rep, Period> time) {
  return detail::sleep_operation(base::deadline_in(time));
}

}  // namespace plait
