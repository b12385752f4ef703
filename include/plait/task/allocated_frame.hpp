// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/frame.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

// std::allocator_traits without the rest of <memory>; <tuple> has std::allocator_arg_t.
#if __has_include(<bits/alloc_traits.h>)
#include <bits/alloc_traits.h>
#else
#include <memory>
#endif

// Coroutines that say where their frames come from: their first parameters are a std::allocator_arg_t and an allocator,
// or a pointer to a memory resource; after the object, in members and lambdas. As those of std::generator.

PLAIT_INTERFACE

namespace plait::detail {

/// What frames consist of.
struct alignas(base::frame_grain) frame_unit {
  std::byte bytes[base::frame_grain];
};

template <class A>
concept frame_resource = std::is_pointer_v<A> && requires(A a, void* p) {
  { a->allocate(std::size_t{}, std::size_t{}) } -> std::convertible_to<void*>;
  a->deallocate(p, std::size_t{}, std::size_t{});
};
template <class A>
concept frame_allocator = !std::is_pointer_v<A> && requires(A a) {
  typename A::value_type;
  a.allocate(std::size_t{});
};

/// The memory of a frame: behind it lies the allocator, or the pointer to the resource.
template <class A>
struct frame_memory {
  static_assert(frame_resource<A> || frame_allocator<A>,
                "plait: after std::allocator_arg a coroutine takes an allocator or a pointer to a memory resource");
  static_assert(alignof(A) <= alignof(frame_unit));

  static constexpr std::size_t offset(std::size_t size) noexcept { return (size + alignof(A) - 1) & ~(alignof(A) - 1); }
  static constexpr std::size_t units(std::size_t size) noexcept {
    return (offset(size) + sizeof(A) + sizeof(frame_unit) - 1) / sizeof(frame_unit);
  }

  static void* allocate(std::size_t size, const A& from) {
    void* memory = nullptr;
    if constexpr (frame_resource<A>) {
      memory = from->allocate(units(size) * sizeof(frame_unit), alignof(frame_unit));
    } else {
      using traits = typename std::allocator_traits<A>::template rebind_traits<frame_unit>;
      static_assert(std::is_same_v<typename traits::pointer, frame_unit*>,
                    "plait: frames need an allocator whose pointers are plain pointers");
      typename traits::allocator_type rebound(from);
      memory = traits::allocate(rebound, units(size));
    }
    ::new (static_cast<std::byte*>(memory) + offset(size)) A(from);
    return memory;
  }

  static void release(void* memory, std::size_t size) noexcept {
    auto* kept = std::launder(reinterpret_cast<A*>(static_cast<std::byte*>(memory) + offset(size)));
    A from(std::move(*kept));
    kept->~A();
    if constexpr (frame_resource<A>) {
      from->deallocate(memory, units(size) * sizeof(frame_unit), alignof(frame_unit));
    } else {
      using traits = typename std::allocator_traits<A>::template rebind_traits<frame_unit>;
      typename traits::allocator_type rebound(from);
      traits::deallocate(rebound, static_cast<frame_unit*>(memory), units(size));
    }
  }
};

/// Inlined: g++ 12 takes the two functions for a mismatch where it sees the coroutine call them.
template <class T, class A>
struct allocated_promise : task_promise<T> {
  template <class... Args>
  PLAIT_ALWAYS_INLINE static void* operator new(std::size_t size, std::allocator_arg_t, const A& from, const Args&...) {
    return frame_memory<A>::allocate(size, from);
  }
  template <class This, class... Args>
  PLAIT_ALWAYS_INLINE static void* operator new(std::size_t size, const This&, std::allocator_arg_t, const A& from,
                                                const Args&...) {
    return frame_memory<A>::allocate(size, from);
  }
  PLAIT_ALWAYS_INLINE static void operator delete(void* frame, std::size_t size) noexcept {
    frame_memory<A>::release(frame, size);
  }
};

}  // namespace plait::detail

// Frames are known by handles of the base.
template <class T, class A, class... Args>
struct std::coroutine_traits<plait::task<T>, std::allocator_arg_t, A, Args...> {
  using promise_type = plait::detail::allocated_promise<T, std::remove_cvref_t<A>>;
};
template <class T, class This, class A, class... Args>
struct std::coroutine_traits<plait::task<T>, This, std::allocator_arg_t, A, Args...> {
  using promise_type = plait::detail::allocated_promise<T, std::remove_cvref_t<A>>;
};
