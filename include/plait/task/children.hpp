// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>

#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

// Ranges of tasks and futures. <ranges> would cost more to compile than all of plait's headers for one machine.

namespace plait::detail {

/// What iterating over an lvalue of R gives, without reference.
template <class R>
using element_t = std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>;

/// Moves the elements out of a range.
template <class R>
std::vector<element_t<R>> take_elements(R& range) {
  std::vector<element_t<R>> taken;
  if constexpr (requires { std::size(range); }) taken.reserve(std::size(range));
  for (auto&& element : range) taken.push_back(std::move(element));
  return taken;
}

}  // namespace plait::detail
