// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

PLAIT_INTERFACE

namespace plait::base {

/// std::exchange for what moves without an exception, in no function that must be compiled by itself.
template <class T, class U = T>
PLAIT_ALWAYS_INLINE constexpr T exchange(T& object, U&& value) noexcept {
  T former = static_cast<T&&>(object);
  object = static_cast<U&&>(value);
  return former;
}

}  // namespace plait::base
