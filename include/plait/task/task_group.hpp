// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/functional.hpp>
#include <plait/task/fork.hpp>
#include <plait/task/spawn.hpp>
#include <plait/task/stop.hpp>
#include <plait/task/when_all.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {

/// Any number of tasks that are joined together. Their results are dropped. Where it ends without join it requests a
/// stop of them and waits, so they may refer to what was declared before it. Tasks in the group may add others, from
/// any thread; join and the end belong to the task that made it.
class task_group {
 public:
  task_group() {}  // not defaulted: a unit that is compiled with PLAIT_SEPARATE finds it in another
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() {
    request_stop();
    while (take()) {
      for (const auto& child : joining_) {
        if (auto* cell = detail::cell_of_task(child)) detail::wait_in_destructor(*cell, detail::unit_of(*cell));
      }
    }
  }

  /// `co_await` it: starts the task at once, as fork does, in the group.
  template <class T>
  task<void> fork(task<T> t) {
    add(co_await plait::fork(without_result(std::move(t))));
  }
  template <class F, class... A>
    requires(!detail::is_task<std::remove_cvref_t<F>> && std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>)
  task<void> fork(F&& f, A&&... args) {
    return fork(detail::call_owned<std::decay_t<F>, std::decay_t<A>...>(std::forward<F>(f), std::forward<A>(args)...));
  }

  /// Queues the task, as spawn does, in the group. A request to stop the task that calls it first reaches it too.
  template <class T>
  void spawn(task<T> t) {
    inherit();
    add(plait::spawn(without_result(std::move(t))));
  }
  template <class F, class... A>
    requires(!detail::is_task<std::remove_cvref_t<F>> && std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>)
  void spawn(F&& f, A&&... args) {
    spawn(detail::call_owned<std::decay_t<F>, std::decay_t<A>...>(std::forward<F>(f), std::forward<A>(args)...));
  }

  /// Suspends until all have ended, also those that were added meanwhile. Then it rethrows the exception of the one
  /// that was added first of those that threw; the others count as seen. The group can be used again.
  template <class = void>  // compiled where it is used: g++ emits every coroutine that is no template
  task<void> join() {
    while (take()) {
      for (const auto& child : joining_) {
        co_await detail::end_of(child);
        note_failure(child);
      }
    }
    std::exception_ptr failure;
    {
      const std::lock_guard lock(mutex_);
      failure = base::exchange(failure_, nullptr);
      stopped_ = false;
    }
    if (failure) std::rethrow_exception(failure);
  }

  /// Asks all that have not ended to stop, as future::cancel does, and those that are added before join. Any thread.
  void request_stop() noexcept {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    const bool outer = base::exchange(telling_, true);
    for (std::size_t i = 0; i < joining_.size(); ++i) stop(joining_[i]);
    for (std::size_t i = 0; i < children_.size(); ++i) stop(children_[i]);  // there may be more of them meanwhile
    telling_ = outer;
  }

 private:
  template <class T>
  static task<void> without_result(task<T> t) {
    if constexpr (std::is_void_v<T>) {
      co_await t;
    } else {
      static_cast<void>(co_await t);
    }
  }

  static void stop(future<void>& child) noexcept {
    try {
      child.cancel();
    } catch (...) {  // no memory to tell it: it ends by itself
    }
  }

  void add(future<void> child) {
    std::vector<future<void>> ended;  // their end may run code that uses the group
    const std::lock_guard lock(mutex_);
    if (child.done() && !child.exception()) return;
    if (children_.size() == children_.capacity() && !telling_) move_ended(ended);
    children_.push_back(std::move(child));
    if (stopped_ || token_.stop_requested()) stop(children_.back());
  }
  /// Keeps the memory of a long-lived group in proportion to what runs.
  void move_ended(std::vector<future<void>>& ended) {
    std::size_t kept = 0;
    for (auto& child : children_) {
      if (child.done()) {
        keep(child.exception());
        ended.push_back(std::move(child));
      } else {
        std::swap(children_[kept++], child);
      }
    }
    children_.resize(kept);
  }
  void note_failure(const future<void>& child) {
    auto e = child.exception();
    const std::lock_guard lock(mutex_);
    keep(std::move(e));
  }
  void keep(std::exception_ptr e) noexcept {
    if (e && !failure_) failure_ = std::move(e);
  }
  /// Drops those that have been joined, and moves the others to where they are. False if there are none.
  bool take() {
    std::vector<future<void>> ended;  // its end may call the unobserved handler
    const std::lock_guard lock(mutex_);
    ended.swap(joining_);
    joining_.swap(children_);
    return !joining_.empty();
  }
  void inherit() {
    {
      const std::lock_guard lock(mutex_);
      if (inherits_) return;
      inherits_ = true;
    }
    auto token = this_task::stop_token();
    {
      const std::lock_guard lock(mutex_);
      token_ = token;
    }
    inherited_.emplace(std::move(token), stop_all{this});  // may call it at once
  }

  struct stop_all {
    task_group* group;
    void operator()() const noexcept { group->request_stop(); }
  };

  std::recursive_mutex mutex_;  ///< what is told to stop may run callbacks, which may add to the group
  std::vector<future<void>> children_;
  std::vector<future<void>> joining_;  ///< being waited for; only told to stop meanwhile
  std::exception_ptr failure_;
  bool stopped_ = false;
  bool telling_ = false;  ///< by the holder of the mutex: no future may end
  bool inherits_ = false;
  std::stop_token token_;                                  ///< of the task that spawned first
  std::optional<std::stop_callback<stop_all>> inherited_;  ///< ends first: it uses the rest
};

}  // namespace plait
