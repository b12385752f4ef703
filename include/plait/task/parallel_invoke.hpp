// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/when_all.hpp>

#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// What parallel_invoke joins: a task or future itself, else a task that calls the callable.
template <class X>
auto as_child(X&& x) {
  if constexpr (child<X>) {
    return std::remove_cvref_t<X>(std::move(x));
  } else {
    return call_owned<std::decay_t<X>>(std::forward<X>(x));
  }
}

template <class X>
concept invocable_child = child<X> || std::is_invocable_v<std::decay_t<X>>;

}  // namespace detail

/// `co_await parallel_invoke(f, g, ...)` calls all of them, at the same time where workers are free, and gives a tuple
/// of what they return, with std::monostate for void; of callables it keeps decayed copies; what they give, if it is a
/// task, is awaited. Tasks and futures may stand among them. All have ended when it resumes; then the first exception
/// in argument order is rethrown: as when_all.
template <detail::invocable_child... F>
auto parallel_invoke(F&&... f) {
  return when_all(detail::as_child(std::forward<F>(f))...);
}

}  // namespace plait
