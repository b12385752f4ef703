// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/blocking_wait.hpp>

#include <coroutine>

PLAIT_INTERFACE

namespace plait {

namespace detail {

[[noreturn]] inline void refuse_wait_children() {
  throw error("plait: wait_children was called outside of a task: there is nothing whose children it could wait for");
}

}  // namespace detail

/// Suspends the task until its direct children have ended: those that it, or a helper that it awaits inline, has
/// submitted, spawned or forked. Never throws their exceptions, which stay with their futures or go to the unobserved
/// handler. Throws plait::error outside of a task.
class [[nodiscard(
    "wait_children does nothing until it is co_awaited; plain functions use wait_children_blocking")]] wait_children {
 public:
  using resumes_in_pool = void;
  bool await_ready() const {
    auto* w = detail::worker::of_this_thread();
    if (w == nullptr || w->current == nullptr) detail::refuse_wait_children();
    const auto* children = w->current->known_children();
    return children == nullptr || !children->has_children();
  }
  bool await_suspend(std::coroutine_handle<> h) {
    auto* w = detail::worker::of_this_thread();
    detail::prepare(waiter_, w, h);
    return w->current->known_children()->join(&waiter_);
  }
  void await_resume() const noexcept {}

 private:
  detail::waiter waiter_;
};

/// wait_children for plain functions that run as tasks: the worker executes other tasks meanwhile.
inline void wait_children_blocking() {
  auto* w = detail::worker::of_this_thread();
  if (w == nullptr || w->current == nullptr) detail::refuse_wait_children();
  auto* children = w->current->known_children();
  if (children == nullptr || !children->has_children()) return;
  detail::check_help_depth(*w);
  detail::thread_waiter x(w);
  if (children->join(&x)) w->home().help(*w, [&x] { return x.signal.is_set(); });
}

}  // namespace plait
