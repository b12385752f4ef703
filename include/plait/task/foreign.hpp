// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/frame_pool.hpp>
#include <plait/task/observers.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

// Awaitables that are not plait's resume whoever awaits them wherever and whenever they like: in a thread that is no
// worker, or in the middle of another task. So what they get is not the task's handle but that of a relay, a coroutine
// of its own whose resumption queues the task in its pool.

PLAIT_INTERFACE

namespace plait::detail {

/// Resumes a waiter from a queue of its pool, once, when it is resumed, and ends. Whoever does not resume it may
/// destroy it.
class relay {
 public:
  struct promise_type : base::in_frame_memory {
    relay get_return_object() noexcept { return relay(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };

  template <class = void>  // compiled where it is used
  static relay to(waiter* w) {
    resume_later(w);
    co_return;
  }
  std::coroutine_handle<> handle() const noexcept { return handle_; }

 private:
  explicit relay(std::coroutine_handle<> handle) noexcept : handle_(handle) {}
  std::coroutine_handle<> handle_;
};

template <class A>
concept has_member_await = requires(A&& a) {
  static_cast<A&&>(a).operator co_await();
};
template <class A>
concept has_free_await = requires(A&& a) {
  operator co_await(static_cast<A&&>(a));
};

/// What `co_await a` takes as the awaiter, as the language says.
template <class A>
decltype(auto) awaiter_of(A&& a) {
  if constexpr (has_member_await<A>) {
    return static_cast<A&&>(a).operator co_await();
  } else if constexpr (has_free_await<A>) {
    return operator co_await(static_cast<A&&>(a));
  } else {
    return static_cast<A&&>(a);
  }
}
template <class A>
using awaiter_of_t = decltype(awaiter_of(std::declval<A>()));

/// Whether the awaiter resumes the task in its own pool, as its unit: plait's own say so.
template <class A>
concept awaitable_in_pool = requires {
  typename std::remove_cvref_t<awaiter_of_t<A>>::resumes_in_pool;
};

/// Awaits a foreign awaiter by a relay. Lies in the frame of the awaiting task.
template <class Awaiter>
class relayed_awaiter {
 public:
  using resumes_in_pool = void;

  template <class A>
  explicit relayed_awaiter(std::in_place_t, A&& a) : awaiter_(awaiter_of(static_cast<A&&>(a))) {}

  bool await_ready() { return static_cast<bool>(awaiter_.await_ready()); }

  auto await_suspend(std::coroutine_handle<> task) {
    prepare(waiter_, worker::of_this_thread(), task);
    const auto stand_in = relay::to<>(&waiter_).handle();
    using result = decltype(awaiter_.await_suspend(stand_in));
    try {
      // Once it has the handle, another thread may resume the task and end this awaiter.
      if constexpr (std::is_void_v<result>) {
        awaiter_.await_suspend(stand_in);
      } else if constexpr (std::same_as<result, bool>) {
        const bool suspended = awaiter_.await_suspend(stand_in);
        if (!suspended) stand_in.destroy();
        return suspended;
      } else {
        const std::coroutine_handle<> next = awaiter_.await_suspend(stand_in);
        return next;
      }
    } catch (...) {
      stand_in.destroy();
      throw;
    }
  }

  decltype(auto) await_resume() { return awaiter_.await_resume(); }

 private:
  Awaiter awaiter_;  // a value, or a reference to one that lives as long as the await
  waiter waiter_;
};

/// An awaiter that stays where it is. g++ 12 moves one that await_transform gives as a reference.
template <class Awaiter>
class awaiter_reference {
 public:
  explicit awaiter_reference(Awaiter& awaiter) noexcept : awaiter_(awaiter) {}
  decltype(auto) await_ready() { return awaiter_.await_ready(); }
  decltype(auto) await_suspend(std::coroutine_handle<> h) { return awaiter_.await_suspend(h); }
  decltype(auto) await_resume() { return awaiter_.await_resume(); }

 private:
  Awaiter& awaiter_;
};

/// For promises: what plait does not know goes by a relay.
struct relays_foreign_awaitables {
  template <class A>
  PLAIT_ALWAYS_INLINE static decltype(auto) await_transform(A&& a) {
    using plain = std::remove_reference_t<A>;
    if constexpr (!awaitable_in_pool<A>) {
      return relayed_awaiter<awaiter_of_t<A>>(std::in_place, static_cast<A&&>(a));
    } else if constexpr (!std::is_reference_v<awaiter_of_t<A>>) {
      return awaiter_of(static_cast<A&&>(a));
    } else if constexpr (std::is_trivially_copyable_v<plain>) {
      return plain(a);
    } else {
      return awaiter_reference<plain>(a);
    }
  }
};

}  // namespace plait::detail
