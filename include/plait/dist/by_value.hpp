// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/submit.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// A lambda whose captures travel as bytes. Made by by_value.
template <class L>
struct by_value_t {
  static_assert(
      std::is_trivially_copyable_v<L>,
      "plait: by_value needs a lambda whose captures are trivially copyable: others don't travel as bytes; pass them "
      "as arguments of the task instead");
  L lambda;
};

/// Lets submit take a lambda with captures, which must be trivially copyable: `submit(by_value([k](int x) { return k *
/// x; }), 3)`. Captured pointers and references mean nothing on another rank.
template <class L>
by_value_t<L> by_value(L lambda) {
  return {std::move(lambda)};
}

namespace dist {

/// The callable that takes a lambda's bytes and its arguments.
template <class L>
struct by_value_callable {
  using bytes = std::array<std::byte, sizeof(L)>;
  template <class Signature, class Arguments>
  struct with_bytes;
  template <class Signature, class... A>
  struct with_bytes<Signature, std::tuple<A...>> : Signature {
    using arguments = std::tuple<bytes, A...>;
    static constexpr std::size_t arity = sizeof...(A) + 1;
  };
  using traits = with_bytes<signature_of<L>, typename signature_of<L>::arguments>;
  using tag = by_value_callable;

  template <class... A>
  static decltype(auto) call(const bytes& lambda, A&&... a) {
    if constexpr (traits::is_coroutine) {
      // A coroutine lambda refers to the lambda object while it runs.
      return keep(std::bit_cast<L>(lambda), std::forward<A>(a)...);
    } else {
      auto l = std::bit_cast<L>(lambda);
      return l(std::forward<A>(a)...);
    }
  }

 private:
  template <class... A>
  static typename traits::returned keep(L lambda, A... a) {
    if constexpr (std::is_void_v<typename traits::result>) {
      co_await lambda(std::move(a)...);
    } else {
      co_return co_await lambda(std::move(a)...);
    }
  }
};

}  // namespace dist

/// Starts a task that calls a lambda with captures. See submit.
template <class L, class... A>
auto submit(placement where, by_value_t<L> f, A&&... a) {
  if constexpr (std::is_trivially_copyable_v<L>) {  // else by_value has said what is wrong
    return dist::submit_callable<dist::by_value_callable<L>>(
        where, std::bit_cast<std::array<std::byte, sizeof(L)>>(f.lambda), std::forward<A>(a)...);
  }
}
template <class L, class... A>
auto submit(by_value_t<L> f, A&&... a) {
  return submit(anywhere, std::move(f), std::forward<A>(a)...);
}

}  // namespace PLAIT_DIST
}  // namespace plait
