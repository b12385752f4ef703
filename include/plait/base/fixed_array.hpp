// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <new>

PLAIT_INTERFACE

namespace plait::base {

/// Objects side by side whose number is set once. They need not be movable, and never move.
template <class T>
class fixed_array {
 public:
  /// Makes `size` objects by construct(place, index), which constructs one at `place`.
  template <class Construct>
  fixed_array(std::size_t size, Construct construct) : fixed_array(size) {
    for (; size_ < size; ++size_) construct(static_cast<void*>(first_ + size_), size_);
  }
  fixed_array(const fixed_array&) = delete;
  fixed_array& operator=(const fixed_array&) = delete;
  ~fixed_array() {
    while (size_ != 0) first_[--size_].~T();
    ::operator delete(first_, std::align_val_t(alignof(T)));
  }

  PLAIT_ALWAYS_INLINE std::size_t size() const noexcept { return size_; }
  PLAIT_ALWAYS_INLINE T& operator[](std::size_t i) noexcept { return first_[i]; }
  PLAIT_ALWAYS_INLINE const T& operator[](std::size_t i) const noexcept { return first_[i]; }
  PLAIT_ALWAYS_INLINE T* begin() noexcept { return first_; }
  PLAIT_ALWAYS_INLINE T* end() noexcept { return first_ + size_; }

 private:
  /// The memory alone. A constructor that delegates to this one and then throws runs the destructor.
  explicit fixed_array(std::size_t capacity)
      : first_(static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))))) {}

  T* first_;
  std::size_t size_ = 0;
};

}  // namespace plait::base
