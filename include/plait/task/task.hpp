// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/functional.hpp>
#include <plait/task/named_promise.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

/// A coroutine that gives a T: any movable type, a reference, or void. It is lazy: nothing runs until it is awaited,
/// forked, spawned, or given to a pool. Move-only. `co_await t` runs it inline, as a call: its end, or exception, comes
/// back here. A task object belongs to one thread at a time.
template <class T = void>
class [[nodiscard("a task does nothing until it is co_awaited, forked, spawned or run")]] task {
 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  task(task && other) noexcept : frame_(base::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  /// Whether it holds a coroutine that was not started yet.
  bool valid() const noexcept { return static_cast<bool>(frame_); }

  class awaiter {
   public:
    using resumes_in_pool = void;
    explicit awaiter(detail::task_handle<T> frame) noexcept : frame_(frame) {}
    bool await_ready() const noexcept { return false; }
    PLAIT_ALWAYS_INLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
      const auto callee = frame_;
      callee.promise().continuation = caller;
      return sched::worker::transfer(callee);
    }
    T await_resume() const {
      const detail::frame_guard<T> guard{frame_};
      return frame_.promise().take();
    }

   private:
    detail::task_handle<T> frame_;
  };

  /// Runs the task inline. Throws plait::error if the task was started before or moved from.
  awaiter operator co_await() { return awaiter(release()); }

  /// The coroutine, which the caller then owns. Throws plait::error if there is none.
  detail::task_handle<T> release() {
    if (!frame_) [[unlikely]]
      detail::refuse_empty_task();
    return base::exchange(frame_, nullptr);
  }

 private:
  friend detail::task_promise<T>;
  explicit task(detail::task_handle<T> frame) noexcept : frame_(frame) {}

  detail::task_handle<T> frame_;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>(task_handle<T>::from_promise(*this));
}
template <class T>
task<T&> task_promise<T&>::get_return_object() noexcept {
  return task<T&>(task_handle<T&>::from_promise(*this));
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>(task_handle<void>::from_promise(*this));
}

template <class X>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// What a callable gives once it has been run: T of task<T>, else its result.
template <class R>
struct awaited {
  using type = std::remove_const_t<R>;
};
template <class T>
struct awaited<task<T>> {
  using type = T;
};
template <class R>
using awaited_t = typename awaited<R>::type;

/// Keeps a callable and its arguments while it runs. For functions and coroutine functions alike.
template <class F, class... A>
task<awaited_t<std::invoke_result_t<F, A...>>> call_owned(F f, A... args) {
  if constexpr (is_task<std::invoke_result_t<F, A...>>) {
    if constexpr (std::is_member_pointer_v<F>) {
      co_return co_await base::invoke(std::move(f), std::move(args)...);
    } else {
      // Called here, not in a helper: what an argument is converted to for a reference parameter must live as long.
      co_return co_await std::move(f)(std::move(args)...);
    }
  } else {
    co_return base::invoke(std::move(f), std::move(args)...);
  }
}

}  // namespace detail
}  // namespace plait
