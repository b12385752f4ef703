// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/named_promise.hpp>
#include <plait/task/task.hpp>

#include <coroutine>
#include <string>
#include <utility>

PLAIT_INTERFACE

/// Frames are known by a handle of the base.
template <class T>
struct std::coroutine_traits<plait::task<T>, plait::detail::task_name, plait::task<T>> {
  using promise_type = plait::detail::named_promise<T>;
  static_assert(alignof(promise_type) == alignof(plait::detail::task_promise<T>));
};

namespace plait {

namespace detail {

template <class T>
task<T> run_named(task_name, task<T> t) {
  co_return co_await t;
}

}  // namespace detail

/// The same task under a name, which the handler of unobserved exceptions gets in place of that of its function:
/// `spawn(named("load", load(file)))`. Costs a frame more.
template <class T>
task<T> named(std::string name, task<T> t) {
  return detail::run_named<T>({std::move(name)}, std::move(t));
}

}  // namespace plait
