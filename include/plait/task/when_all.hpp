// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/functional.hpp>
#include <plait/task/children.hpp>
#include <plait/task/fork.hpp>

#include <exception>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

PLAIT_INTERFACE

namespace plait {

namespace detail {

template <class X>
struct child_value;
template <class T>
struct child_value<task<T>> {
  using type = T;
};
template <class T>
struct child_value<future<T>> {
  using type = T;
};
template <class T>
struct child_value<shared_future<T>> {
  using type = T;
};
/// T of task<T>, future<T> and shared_future<T>.
template <class X>
using child_value_t = typename child_value<std::remove_cvref_t<X>>::type;

template <class X>
concept child = is_task<std::remove_cvref_t<X>> || is_handle<std::remove_cvref_t<X>>;

/// How a joined result stands in a tuple or vector: void as monostate, a reference as reference_wrapper (vector only).
template <class T>
using tuple_value_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
template <class T>
using vector_value_t = std::conditional_t<
    std::is_void_v<T>, std::monostate,
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, T>>;

/// A task of its own that waits for what others share, and takes a copy.
template <class T>
task<T> copied_from(shared_future<T> f) {
  constexpr bool possible = !std::is_object_v<T> || std::is_copy_constructible_v<T>;
  static_assert(possible,
                "plait: when_all gives a copy of what a shared_future holds, and this type can't be copied: co_await "
                "the shared_future itself, which gives a reference");
  if constexpr (possible) co_return co_await f;
}

/// Starts a task by forking it; a future has been started.
template <class T>
task<void> start(task<T>& t, future<T>& started) {
  started = co_await fork(std::move(t));
}
template <class T>
task<void> start(future<T>& f, future<T>& started) {
  started = std::move(f);
  co_return;
}
template <class T>
task<void> start(shared_future<T>& f, future<T>& started) {
  started = co_await fork(copied_from(std::move(f)));
}

/// How when_all gives what has ended: results, or the first exception.
struct results {
  template <class... T>
  using tuple = std::tuple<tuple_value_t<T>...>;
  template <class T>
  using element = vector_value_t<T>;

  template <class T>
  static void keep_first(const future<T>& f, std::exception_ptr& first) {
    auto e = f.exception();  // all of them count as seen
    if (e && !first) first = std::move(e);
  }
  template <class T>
  static tuple_value_t<T> take(future<T>& f) {
    if constexpr (std::is_void_v<T>) {
      f.get();
      return {};
    } else {
      return f.get();
    }
  }

  template <class... T>
  static tuple<T...> of(std::tuple<future<T>...>& futures) {
    std::exception_ptr first;
    std::apply([&](auto&... f) { (keep_first(f, first), ...); }, futures);
    if (first) std::rethrow_exception(first);
    return std::apply([](auto&... f) { return tuple<T...>(take(f)...); }, futures);
  }
  template <class T>
  static std::vector<element<T>> of(std::vector<future<T>>& futures) {
    std::exception_ptr first;
    for (auto& f : futures) keep_first(f, first);
    if (first) std::rethrow_exception(first);
    std::vector<element<T>> taken;
    taken.reserve(futures.size());
    for (auto& f : futures) taken.emplace_back(take(f));
    return taken;
  }
};

/// How: results, or the like.
template <class How, class... C>
task<typename How::template tuple<child_value_t<C>...>> start_and_join(C... children) {
  std::tuple<future<child_value_t<C>>...> futures;
  co_await [](std::tuple<future<child_value_t<C>>...>& f, C&... c) -> task<void> {
    co_await std::apply([&](auto&... started) -> task<void> { (co_await start(c, started), ...); }, f);
  }(futures, children...);
  co_await std::apply([](auto&... f) -> task<void> { (co_await end_of(f), ...); }, futures);
  co_return How::of(futures);
}

/// For a range of tasks or futures.
template <class How, class C>
task<std::vector<typename How::template element<child_value_t<C>>>> start_and_join_range(std::vector<C> children) {
  std::vector<future<child_value_t<C>>> futures;
  futures.reserve(children.size());
  for (auto& c : children) {
    future<child_value_t<C>> started;
    co_await start(c, started);
    futures.push_back(std::move(started));
  }
  for (auto& f : futures) co_await end_of(f);
  co_return How::of(futures);
}

}  // namespace detail

/// Starts all tasks at once and joins them and the futures, which it takes, also those given by name: gives a tuple of
/// the results in argument order, with std::monostate for void. Shared futures stay with who has them: it gives copies
/// of what they hold. All have ended before it resumes; then the first exception in argument order is rethrown.
template <detail::child... C>
auto when_all(C&&... children) {
  return detail::start_and_join<detail::results, std::remove_cvref_t<C>...>(detail::taken(children)...);
}

/// The same for a range of tasks, of futures or of shared futures: gives a vector in their order, with references as
/// std::reference_wrapper.
template <class R>
  requires detail::child<detail::element_t<R>>
auto when_all(R&& children) { return detail::start_and_join_range<detail::results>(detail::take_elements(children)); }

}  // namespace plait
