// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/task.hpp>
#include <plait/wire/codec.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

// What submit must know of a callable: its parameters, its result, and how to call it.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

using namespace plait::detail;

template <class Signature>
struct signature;
template <class R, class... P>
struct signature<R(P...)> {
  using returned = R;
  using result = awaited_t<R>;
  using arguments = std::tuple<std::decay_t<P>...>;
  static constexpr std::size_t arity = sizeof...(P);
  static constexpr bool is_coroutine = is_task<R>;
  static constexpr bool takes_mutable_reference =
      ((std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>) || ...);
};

template <class F>
struct signature_of : signature<void()> {
  static_assert(std::is_class_v<F>,
                "plait: what is submitted is no function: name a function, or give a lambda without captures");
  static_assert(
      !std::is_class_v<F>,
      "plait: a generic lambda, or an object with several call operators, can't be submitted: the types of its "
      "parameters must be known; write them out");
};
template <class F>
  requires requires { &F::operator(); }
struct signature_of<F> : signature_of<decltype(&F::operator())> {};
template <class R, class... P>
struct signature_of<R (*)(P...)> : signature<R(P...)> {};
template <class R, class... P>
struct signature_of<R (*)(P...) noexcept> : signature<R(P...)> {};
template <class C, class R, class... P>
struct signature_of<R (C::*)(P...) const> : signature<R(P...)> {};
template <class C, class R, class... P>
struct signature_of<R (C::*)(P...) const noexcept> : signature<R(P...)> {};
template <class C, class R, class... P>
struct signature_of<R (C::*)(P...)> : signature<R(P...)> {};
template <class C, class R, class... P>
struct signature_of<R (C::*)(P...) noexcept> : signature<R(P...)> {};

/// Names of callables in the registry where they are more than submitted: of each such use a template, the argument of
/// which is what users read.
template <auto F>
struct spmd_of_function {};
template <class L>
struct spmd_of_lambda {};
template <auto F>
struct chunks_of {};
template <auto F, auto Op, class A>
struct reduction_of {};

/// A callable that every rank can make from its type alone: `tag` names it in the registry, `spmd_tag` as spmd body.
template <auto F>
struct constant_callable {
  static_assert(!std::is_member_pointer_v<std::remove_cvref_t<decltype(F)>>,
                "plait: a member function can't be submitted: submit a function or lambda that takes the object");
  using traits = signature_of<std::remove_cvref_t<decltype(F)>>;
  using tag = constant_callable;
  using spmd_tag = spmd_of_function<F>;
  template <class... A>
  static decltype(auto) call(A&&... a) {
    return std::invoke(F, std::forward<A>(a)...);
  }
};

/// The same for a lambda without captures.
template <class L>
struct lambda_callable {
  using traits = signature_of<L>;
  using tag = lambda_callable;
  using spmd_tag = spmd_of_lambda<L>;
  template <class... A>
  static decltype(auto) call(A&&... a) {
    return L{}(std::forward<A>(a)...);
  }
};

template <class Arguments>
struct check_arguments;
template <class... A>
struct check_arguments<std::tuple<A...>> {
  static consteval bool check() {
    (check_transferable<A>(), ...);
    return true;
  }
};

/// Explains at compile time why a callable can't be submitted.
template <class Callable>
consteval bool check_callable() {
  using traits = typename Callable::traits;
  static_assert(
      !traits::takes_mutable_reference,
      "plait: a submitted function can't take its arguments by non-const reference: it may run on another rank, "
      "so changes would be lost; take them by value or const reference and return what changes");
  static_assert(!std::is_reference_v<typename traits::result>,
                "plait: a submitted function can't return a reference: it may run on another rank; return the value");
  check_arguments<typename traits::arguments>::check();
  if constexpr (!std::is_void_v<typename traits::result>) check_transferable<typename traits::result>();
  return true;
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
