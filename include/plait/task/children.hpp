// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/shared_future.hpp>

#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

// Ranges of tasks and futures. <ranges> would cost more to compile than all of plait's headers for one machine.

PLAIT_INTERFACE

namespace plait::detail {

/// What iterating over an lvalue of R gives, without reference.
template <class R>
using element_t = std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>;

/// A future or shared_future.
template <class X>
inline constexpr bool is_handle = is_future<X>;
template <class T>
inline constexpr bool is_handle<shared_future<T>> = true;

/// What a function that takes x keeps of it: tasks and futures are moved; of a shared_future it is another handle.
template <class X>
X&& taken(X& x) noexcept {
  return std::move(x);
}
template <class T>
const shared_future<T>& taken(shared_future<T>& x) noexcept {
  return x;
}

/// Takes the elements of a range.
template <class R>
std::vector<element_t<R>> take_elements(R& range) {
  std::vector<element_t<R>> elements;
  if constexpr (requires { std::size(range); }) elements.reserve(std::size(range));
  for (auto&& element : range) elements.push_back(taken(element));
  return elements;
}

}  // namespace plait::detail
