// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <new>
#include <type_traits>

namespace plait::base {

/// Objects side by side whose number grows: what this library needs of std::vector, in so few functions that a program
/// that includes it compiles quickly. Elements must be movable without an exception; they move when it grows.
template <class T>
class growing_array {
 public:
  growing_array() noexcept = default;
  PLAIT_ALWAYS_INLINE growing_array(growing_array&& other) noexcept { swap(other); }
  growing_array& operator=(growing_array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~growing_array() {
    clear();
    ::operator delete(first_, std::align_val_t(alignof(T)));
  }

  /// Appends an element. If there is no memory for it, std::bad_alloc, and nothing has changed.
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_ + 4);
    ::new (static_cast<void*>(first_ + size_)) T(static_cast<T&&>(value));
    ++size_;
  }
  PLAIT_ALWAYS_INLINE void pop_back() noexcept { first_[--size_].~T(); }
  /// Takes the element at an index away; those after it move up.
  void erase(std::size_t index) noexcept {
    for (; index + 1 < size_; ++index) first_[index] = static_cast<T&&>(first_[index + 1]);
    pop_back();
  }
  /// Takes so many elements at the front away.
  void erase_first(std::size_t count) noexcept {
    for (std::size_t i = count; i < size_; ++i) first_[i - count] = static_cast<T&&>(first_[i]);
    for (; count > 0; --count) pop_back();
  }
  /// Destroys all elements; the memory stays.
  void clear() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      while (size_ != 0) pop_back();
    }
    size_ = 0;
  }
  /// Appends values, or takes elements away, until there are so many.
  void resize(std::size_t size) {
    reserve(size);
    while (size_ > size) pop_back();
    while (size_ < size) push_back(T());
  }
  /// Makes room for so many elements: up to there push_back does not throw.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto* larger = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))));
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(larger + i)) T(static_cast<T&&>(first_[i]));
      first_[i].~T();
    }
    ::operator delete(first_, std::align_val_t(alignof(T)));
    first_ = larger;
    capacity_ = capacity;
  }
  void swap(growing_array& other) noexcept {
    auto* const first = first_;
    const auto size = size_;
    const auto capacity = capacity_;
    first_ = other.first_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.first_ = first;
    other.size_ = size;
    other.capacity_ = capacity;
  }

  PLAIT_ALWAYS_INLINE std::size_t size() const noexcept { return size_; }
  PLAIT_ALWAYS_INLINE std::size_t capacity() const noexcept { return capacity_; }
  PLAIT_ALWAYS_INLINE bool empty() const noexcept { return size_ == 0; }
  PLAIT_ALWAYS_INLINE T& operator[](std::size_t i) noexcept { return first_[i]; }
  PLAIT_ALWAYS_INLINE const T& operator[](std::size_t i) const noexcept { return first_[i]; }
  PLAIT_ALWAYS_INLINE T& back() noexcept { return first_[size_ - 1]; }
  PLAIT_ALWAYS_INLINE const T& back() const noexcept { return first_[size_ - 1]; }
  PLAIT_ALWAYS_INLINE T* begin() noexcept { return first_; }
  PLAIT_ALWAYS_INLINE T* end() noexcept { return first_ + size_; }
  PLAIT_ALWAYS_INLINE const T* begin() const noexcept { return first_; }
  PLAIT_ALWAYS_INLINE const T* end() const noexcept { return first_ + size_; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace plait::base
