// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>
#include <type_traits>

PLAIT_INTERFACE

namespace plait::base {

/// What this library needs of std::atomic_ref, in so few functions that a program that includes it compiles quickly.
template <class T>
class atomic_word_ref {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*));

 public:
  PLAIT_ALWAYS_INLINE explicit atomic_word_ref(T& object) noexcept : object_(&object) {}

  PLAIT_ALWAYS_INLINE T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    T value;
    __atomic_load(object_, &value, static_cast<int>(order));
    return value;
  }
  PLAIT_ALWAYS_INLINE void store(T value, std::memory_order order = std::memory_order_seq_cst) const noexcept {
    __atomic_store(object_, &value, static_cast<int>(order));
  }
  PLAIT_ALWAYS_INLINE T exchange(T value, std::memory_order order = std::memory_order_seq_cst) const noexcept {
    T former;
    __atomic_exchange(object_, &value, &former, static_cast<int>(order));
    return former;
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                                                 std::memory_order failure) const noexcept {
    return __atomic_compare_exchange(object_, &expected, &value, true, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                                   std::memory_order failure) const noexcept {
    return __atomic_compare_exchange(object_, &expected, &value, false, static_cast<int>(success),
                                     static_cast<int>(failure));
  }

 private:
  T* object_;
};

/// What this library needs of std::atomic, in so few functions that a program that includes it compiles quickly.
template <class T>
class atomic_word {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*));

 public:
  static constexpr bool is_always_lock_free = __atomic_always_lock_free(sizeof(T), nullptr);

  PLAIT_ALWAYS_INLINE constexpr atomic_word(T value = T()) noexcept : value_(value) {}
  atomic_word(const atomic_word&) = delete;
  atomic_word& operator=(const atomic_word&) = delete;

  PLAIT_ALWAYS_INLINE T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    T value;
    __atomic_load(&value_, &value, static_cast<int>(order));
    return value;
  }
  PLAIT_ALWAYS_INLINE void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    __atomic_store(&value_, &value, static_cast<int>(order));
  }
  PLAIT_ALWAYS_INLINE T operator=(T value) noexcept {
    store(value);
    return value;
  }
  PLAIT_ALWAYS_INLINE operator T() const noexcept { return load(); }
  PLAIT_ALWAYS_INLINE T operator++() noexcept { return fetch_add(1) + 1; }
  PLAIT_ALWAYS_INLINE T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    T former;
    __atomic_exchange(&value_, &value, &former, static_cast<int>(order));
    return former;
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                                                 std::memory_order failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, true, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                                   std::memory_order failure) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, false, static_cast<int>(success),
                                     static_cast<int>(failure));
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_strong(T& expected, T value,
                                                   std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_strong(expected, value, order, of_failure(order));
  }
  PLAIT_ALWAYS_INLINE bool compare_exchange_weak(T& expected, T value,
                                                 std::memory_order order = std::memory_order_seq_cst) noexcept {
    return compare_exchange_weak(expected, value, order, of_failure(order));
  }
  PLAIT_ALWAYS_INLINE T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return __atomic_fetch_add(&value_, value, static_cast<int>(order));
  }
  PLAIT_ALWAYS_INLINE T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return __atomic_fetch_sub(&value_, value, static_cast<int>(order));
  }
  PLAIT_ALWAYS_INLINE T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return __atomic_fetch_or(&value_, value, static_cast<int>(order));
  }
  PLAIT_ALWAYS_INLINE T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return __atomic_fetch_and(&value_, value, static_cast<int>(order));
  }

 private:
  PLAIT_ALWAYS_INLINE static constexpr std::memory_order of_failure(std::memory_order order) noexcept {
    return order == std::memory_order_acq_rel   ? std::memory_order_acquire
           : order == std::memory_order_release ? std::memory_order_relaxed
                                                : order;
  }

  alignas(sizeof(T)) T value_;  // as the processor wants it, also where the type itself asks for less
};

}  // namespace plait::base
