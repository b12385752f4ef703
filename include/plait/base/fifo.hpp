// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>

#include <cstddef>

PLAIT_INTERFACE

namespace plait::base {

/// A growing_array from which elements are taken at the front, in constant time on average.
template <class T>
class fifo {
 public:
  void push_back(T value) { elements_.push_back(static_cast<T&&>(value)); }
  /// The oldest, taken out; there is one.
  T pop_front() noexcept {
    T oldest = static_cast<T&&>(elements_[taken_++]);
    if (taken_ == elements_.size()) {
      elements_.clear();
      taken_ = 0;
    } else if (taken_ > 64 && taken_ > elements_.size() / 2) {
      elements_.erase_first(taken_);
      taken_ = 0;
    }
    return oldest;
  }
  const T& front() const noexcept { return elements_[taken_]; }
  /// The newest; there is one.
  T& back() noexcept { return elements_.back(); }
  std::size_t size() const noexcept { return elements_.size() - taken_; }
  bool empty() const noexcept { return size() == 0; }
  void clear() noexcept {
    elements_.clear();
    taken_ = 0;
  }

 private:
  growing_array<T> elements_;
  std::size_t taken_ = 0;  // of those in front
};

}  // namespace plait::base
