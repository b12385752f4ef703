// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/placement.hpp>
#include <plait/dist/submitted.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {

/// The worker and run of the calling task. Throws plait::error outside of a run; `what` was called there.
inline std::pair<sched::worker*, run_context*> running(const char* what) {
  auto* w = sched::worker::of_this_thread();
  if (w == nullptr || w->current == nullptr || w->current->context == nullptr) {
    throw error(
        base::compose({"plait: ", what,
                       " was called outside of a run: call it in a task that runtime::run, run_all or launch has "
                       "started"}));
  }
  return {w, static_cast<run_context*>(w->current->context)};
}

template <class Arguments, class... A>
inline constexpr bool converts = false;
/// Whether a call with these arguments would compile: implicit conversions only.
template <class... P, class... A>
  requires(sizeof...(P) == sizeof...(A))
inline constexpr bool converts<std::tuple<P...>, A...> = (std::is_convertible_v<A&&, P> && ...);

template <class Callable, class... A>
future<typename Callable::traits::result> submit_callable(placement where, A&&... a) {
  static_assert(check_callable<Callable>());
  static_assert(sizeof...(A) == Callable::traits::arity,
                "plait: submit got another number of arguments than the function has parameters");
  if constexpr (sizeof...(A) == Callable::traits::arity) {
    static_assert(converts<typename Callable::traits::arguments, A...>,
                  "plait: submit got an argument that does not convert to the function's parameter");
    const auto [w, run] = running("submit");
    auto& parent = w->current->make_children();
    auto* task = new submitted<Callable>(parent, w->current->context, std::forward<A>(a)...);
    task->self.started = w->time_of(*w->current);
    auto f = plait::detail::make_future<typename Callable::traits::result>(*task);
    parent.add_child();
    w->counters.submitted.add();
    if (auto* by = w->watched()) by->started(&task->self);
    try {
      run->home->place(task, where, *w);
    } catch (...) {
      task->drop_owner();  // the queue's hold
      parent.child_ended(true);
      throw;
    }
    return f;
  }
}

template <class L>
concept captureless = std::is_class_v<L> && std::is_empty_v<L> && std::is_default_constructible_v<L>;

template <class L>
inline constexpr bool is_function = std::is_function_v<std::remove_pointer_t<L>>;

/// Explains at compile time why what was given as a lambda can't be submitted.
template <class L>
consteval bool check_lambda() {
  static_assert(!is_function<L>,
                "plait: a function is submitted by its name, since an address means nothing on another rank: "
                "submit<f>(args...), not submit(f, args...)");
  static_assert(
      !is_task<L>,
      "plait: a task that was made here cannot leave: submit the function and its arguments, submit<f>(args...),"
      " not submit(f(args...))");
  static_assert(
      captureless<L> || is_function<L> || is_task<L>,
      "plait: submit takes lambdas without captures: the captures would not travel; pass them as arguments, or "
      "wrap a lambda with trivially copyable captures in plait::by_value");
  return captureless<L>;
}

}  // namespace dist

/// Starts a task that calls f, a function or coroutine function with external or internal linkage, and gives its
/// future. It may run on any rank; the arguments are converted to f's decayed parameter types and owned by the task. A
/// dropped future detaches it. Throws plait::error outside of a run, and what serialising an argument throws.
template <auto F, class... A>
  requires(sizeof...(A) == 0 ||
           !std::is_same_v<std::remove_cvref_t<std::tuple_element_t<0, std::tuple<A..., void>>>, placement>)
auto submit(A&&... a) { return dist::submit_callable<dist::constant_callable<F>>(anywhere, std::forward<A>(a)...); }

/// The same at a place.
template <auto F, class... A>
auto submit(placement where, A&&... a) {
  return dist::submit_callable<dist::constant_callable<F>>(where, std::forward<A>(a)...);
}

/// The same for a lambda without captures, which is known by its type. For one with captures see by_value.
template <class L, class... A>
  requires(!std::is_same_v<std::remove_cvref_t<L>, placement>)
auto submit(L&&, A&&... a) {
  if constexpr (dist::check_lambda<std::remove_cvref_t<L>>()) {
    return dist::submit_callable<dist::lambda_callable<std::remove_cvref_t<L>>>(anywhere, std::forward<A>(a)...);
  }
}

/// The same at a place.
template <class L, class... A>
auto submit(placement where, L&&, A&&... a) {
  if constexpr (dist::check_lambda<std::remove_cvref_t<L>>()) {
    return dist::submit_callable<dist::lambda_callable<std::remove_cvref_t<L>>>(where, std::forward<A>(a)...);
  }
}

}  // namespace PLAIT_DIST
}  // namespace plait
