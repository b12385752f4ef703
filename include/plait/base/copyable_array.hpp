// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>

#include <cstddef>

PLAIT_INTERFACE

namespace plait::base {

/// A growing_array that can be copied, for what users get.
template <class T>
class copyable_array : public growing_array<T> {
 public:
  PLAIT_ALWAYS_INLINE copyable_array() noexcept {}
  PLAIT_ALWAYS_INLINE copyable_array(copyable_array&& other) noexcept
      : growing_array<T>(static_cast<growing_array<T>&&>(other)) {}
  copyable_array(const copyable_array& other) : growing_array<T>() {
    this->reserve(other.size());
    for (const auto& element : other) this->push_back(element);
  }
  copyable_array& operator=(copyable_array other) noexcept {
    this->swap(other);
    return *this;
  }
  PLAIT_ALWAYS_INLINE ~copyable_array() {}

  /// Appends an empty one.
  T& add() {
    this->push_back(T());
    return this->back();
  }
};

}  // namespace plait::base
