// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace plait {

namespace detail {

template <class T>
class [[nodiscard("fork does nothing until it is co_awaited: auto f = co_await fork(...)")]] fork_awaiter {
 public:
  explicit fork_awaiter(task_handle<T> child) noexcept : child_(child) {}

  bool await_ready() const noexcept { return false; }

  PLAIT_ALWAYS_INLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    const auto child = child_;  // after the push a thief may resume the parent and end this awaiter
    auto* w = worker::of_this_thread();
    auto* as = w != nullptr ? w->current : nullptr;
    if (as == nullptr) [[unlikely]]
      refuse();
    auto& p = child.promise();
    p.kind = origin::fork;
    p.execute = &resume_parent;
    p.continuation = parent;
    p.as = as;
    p.self = {nullptr, nullptr, as->context, 0};
    p.link.store(0, std::memory_order_relaxed);  // published by the push
    try {
      w->own.push_continuation(&p);
    } catch (...) {  // no memory for a longer deque
      child.destroy();
      throw;
    }
    w->begin(p.self);
    w->home().parking().notify_free();
    return worker::transfer(w, child);
  }

  future<T> await_resume() const noexcept { return make_future<T>(child_.promise()); }

 private:
  [[noreturn]] PLAIT_NOINLINE void refuse() {
    child_.destroy();
    throw error(
        "plait: fork was used outside of a task, or in a thread that is no worker of a pool: run the task with "
        "sync_wait, pool::run or pool::spawn");
  }

  task_handle<T> child_;
};

}  // namespace detail

/// `co_await fork(t)` starts the task at once in this thread and gives its future; the rest of the awaiting task is
/// offered to other workers (work-first, Blumofe and Leiserson 1999). The future is structured: it waits for the child
/// where it is dropped, so the child may use its parent's locals. Throws plait::error off a worker.
template <class T>
detail::fork_awaiter<T> fork(task<T> t) {
  return detail::fork_awaiter<T>(t.release());
}

/// The same for a function or coroutine function with arguments, of which it keeps decayed copies.
template <class F, class... A>
  requires(!detail::is_task<std::remove_cvref_t<F>> && std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>)
auto fork(F&& f, A&&... args) {
  return fork(detail::call_owned<std::decay_t<F>, std::decay_t<A>...>(std::forward<F>(f), std::forward<A>(args)...));
}

}  // namespace plait
