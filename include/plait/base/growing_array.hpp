// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>

PLAIT_INTERFACE

namespace plait::base {

/// The memory of a growing_array, whatever its elements are.
class growing_memory {
 public:
  growing_memory(const growing_memory&) = delete;
  growing_memory& operator=(const growing_memory&) = delete;

 protected:
  growing_memory() noexcept = default;

  void swap_memory(growing_memory& other) noexcept {
    auto* const first = memory_;
    const auto size = size_;
    const auto capacity = capacity_;
    memory_ = other.memory_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.memory_ = first;
    other.size_ = size;
    other.capacity_ = capacity;
  }
  /// `move` makes elements of others, which it ends; null where copying the bytes does that.
  void make_room(std::size_t capacity, std::size_t element_size, std::align_val_t alignment,
                 void (*move)(void* to, void* from, std::size_t count) noexcept) {
    if (capacity <= capacity_) return;
    auto* const larger = ::operator new(capacity* element_size, alignment);
    if (move != nullptr) {
      move(larger, memory_, size_);
    } else if (size_ != 0) {
      std::memcpy(larger, memory_, size_ * element_size);
    }
    ::operator delete(memory_, alignment);
    memory_ = larger;
    capacity_ = capacity;
  }

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Objects side by side whose number grows: what this library needs of std::vector, in so few functions that a program
/// that includes it compiles quickly. Elements must be movable without an exception; they move when it grows.
template <class T>
class growing_array : growing_memory {
 public:
  PLAIT_ALWAYS_INLINE growing_array() noexcept {}
  PLAIT_ALWAYS_INLINE growing_array(growing_array&& other) noexcept { swap_memory(other); }
  PLAIT_ALWAYS_INLINE growing_array& operator=(growing_array&& other) noexcept {
    swap_memory(other);
    return *this;
  }
  ~growing_array() {
    clear();
    ::operator delete(memory_, std::align_val_t(alignof(T)));
  }

  /// Appends an element. If there is no memory for it, std::bad_alloc, and nothing has changed.
  void push_back(T value) {
    if (size_ == capacity_) reserve(2 * capacity_ + 4);
    ::new (static_cast<void*>(end())) T(static_cast<T&&>(value));
    ++size_;
  }
  PLAIT_ALWAYS_INLINE void pop_back() noexcept { begin()[--size_].~T(); }
  /// Takes the element at an index away; those after it move up.
  void erase(std::size_t index) noexcept {
    for (auto* first = begin(); index + 1 < size_; ++index) first[index] = static_cast<T&&>(first[index + 1]);
    pop_back();
  }
  /// Takes so many elements at the front away.
  void erase_first(std::size_t count) noexcept {
    auto* const first = begin();
    for (std::size_t i = count; i < size_; ++i) first[i - count] = static_cast<T&&>(first[i]);
    for (; count > 0; --count) pop_back();
  }
  /// Destroys all elements; the memory stays.
  PLAIT_ALWAYS_INLINE void clear() noexcept {
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
  PLAIT_ALWAYS_INLINE void reserve(std::size_t capacity) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      make_room(capacity, sizeof(T), std::align_val_t(alignof(T)), nullptr);
    } else {
      make_room(capacity, sizeof(T), std::align_val_t(alignof(T)), &move_all);
    }
  }
  PLAIT_ALWAYS_INLINE void swap(growing_array& other) noexcept { swap_memory(other); }

  PLAIT_ALWAYS_INLINE std::size_t size() const noexcept { return size_; }
  PLAIT_ALWAYS_INLINE std::size_t capacity() const noexcept { return capacity_; }
  PLAIT_ALWAYS_INLINE bool empty() const noexcept { return size_ == 0; }
  PLAIT_ALWAYS_INLINE T& operator[](std::size_t i) noexcept { return begin()[i]; }
  PLAIT_ALWAYS_INLINE const T& operator[](std::size_t i) const noexcept { return begin()[i]; }
  PLAIT_ALWAYS_INLINE T& back() noexcept { return begin()[size_ - 1]; }
  PLAIT_ALWAYS_INLINE const T& back() const noexcept { return begin()[size_ - 1]; }
  PLAIT_ALWAYS_INLINE T* begin() noexcept { return static_cast<T*>(memory_); }
  PLAIT_ALWAYS_INLINE T* end() noexcept { return static_cast<T*>(memory_) + size_; }
  PLAIT_ALWAYS_INLINE const T* begin() const noexcept { return static_cast<const T*>(memory_); }
  PLAIT_ALWAYS_INLINE const T* end() const noexcept { return static_cast<const T*>(memory_) + size_; }

 private:
  static void move_all(void* to, void* from, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      auto& element = static_cast<T*>(from)[i];
      ::new (static_cast<void*>(static_cast<T*>(to) + i)) T(static_cast<T&&>(element));
      element.~T();
    }
  }
};

}  // namespace plait::base
