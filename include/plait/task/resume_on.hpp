// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/guest.hpp>

#include <coroutine>

PLAIT_INTERFACE

namespace plait {

/// `co_await resume_on(p)`: the task goes on in a worker of that pool, with all that awaits it inline, until another
/// resume_on takes it elsewhere, or back. What it spawns and forks there runs there. To those who wait for it, to
/// wait_children, and to the run whose task it is, nothing changes; timers, blocking waits and the end of a pool are
/// those of the pool where it is. That pool waits at its end for the tasks that are there, and for what they have
/// spawned there. It does not suspend where the task is there already, and is not a place where a request to stop is
/// seen. Throws plait::error outside of a task, if the pool is ending, and in spmd bodies that are bound to a thread.
class [[nodiscard("resume_on does nothing until it is co_awaited")]] resume_on {
 public:
  using resumes_in_pool = void;
  explicit resume_on(pool & where) noexcept : where_(&where) {}

  bool await_ready() const noexcept {
    const auto* w = detail::worker::of_this_thread();
    return w != nullptr && w->current != nullptr && &w->home() == where_;
  }
  void await_suspend(std::coroutine_handle<> h) {
    auto* w = detail::worker::of_this_thread();
    if (w == nullptr || w->current == nullptr) refuse_no_task();
    if (detail::worker::is_bound(*w->current)) refuse_bound();
    auto& where = *where_;
    detail::prepare(waiter_, w, h);
    waiter_.home = &where;
    detail::move_guest(*w->current, *w, where);
    where.post(&waiter_);  // from here on the task may go on
  }
  void await_resume() const noexcept {}

 private:
  [[noreturn]] static void refuse_no_task() {
    throw error(
        "plait: resume_on was used outside of a task, or in a thread that is no worker of a pool: start a task with "
        "pool::spawn or pool::run");
  }
  [[noreturn]] static void refuse_bound() {
    throw error(
        "plait: resume_on was used in an spmd body at a thread level below MPI_THREAD_MULTIPLE, where bodies stay in "
        "the thread that may call MPI");
  }

  pool* where_;
  detail::waiter waiter_;
};

}  // namespace plait
