// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

template <class T>
class [[nodiscard("fork does nothing until it is co_awaited: auto f = co_await fork(...)")]] fork_awaiter {
 public:
  using resumes_in_pool = void;
  explicit fork_awaiter(task_handle<T> child) noexcept : child_(child) {}

  bool await_ready() const noexcept { return false; }

  PLAIT_ALWAYS_INLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    auto* w = worker::of_this_thread();
    auto* as = w != nullptr ? w->current : nullptr;
    if (as == nullptr || !w->own.has_room()) [[unlikely]]
      return prepare_and_start(parent);
    return start(child_, parent, *w, *as);
  }

  PLAIT_ALWAYS_INLINE future<T> await_resume() const noexcept { return make_future_of_fork<T>(child_.promise()); }

 private:
  /// After the push a thief may resume the parent and end this awaiter, so it is not used here.
  PLAIT_ALWAYS_INLINE static std::coroutine_handle<> start(task_handle<T> child, std::coroutine_handle<> parent,
                                                           worker & w, unit & as) noexcept {
    auto& p = child.promise();
    p.kind = origin::fork;
    p.execute = &resume_parent;
    p.continuation = parent;
    p.as = &as;
    p.children = nullptr;
    p.parent = nullptr;  // the link, published by the push
    p.context = as.context;
    w.begin_child(p, as);
    w.own.push_reserved_continuation(&p);
    w.home().parking().notify_free();
    return worker::transfer(child);
  }

  /// Where something is missing.
  PLAIT_NOINLINE std::coroutine_handle<> prepare_and_start(std::coroutine_handle<> parent) {
    auto* w = worker::of_this_thread();
    auto* as = w != nullptr ? w->current : nullptr;
    try {
      if (as == nullptr) {
        throw error(
            "plait: fork was used outside of a task, or in a thread that is no worker of a pool: run the task with "
            "sync_wait, pool::run or pool::spawn");
      }
      w->own.reserve();
      if (w->watched() != nullptr) w->counters.forked.add();
    } catch (...) {
      child_.destroy();
      throw;
    }
    return start(child_, parent, *w, *as);
  }

  task_handle<T> child_;
};

}  // namespace detail

/// `co_await fork(t)` starts the task at once in this thread and gives its future; the rest of the awaiting task is
/// offered to other workers (work-first, Blumofe and Leiserson 1999). The future is structured: where it is
/// dropped it asks the child to stop and waits for it, so the child may use its parent's locals. Throws plait::error
/// off a worker.
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
