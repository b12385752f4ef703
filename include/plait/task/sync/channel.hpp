// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/task/sync/channel_core.hpp>

#include <cstddef>
#include <mutex>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

/// Carries values from tasks to tasks, in order, each to one of those who receive. A send waits while `capacity` values
/// are buffered; with a capacity of 0 until somebody has received it. Any number may send and receive. It must live
/// until all who wait have gone on.
template <class T>
class channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && std::is_move_constructible_v<T>,
                "plait: what a channel carries must be an object that can be moved");

  class item;
  class send_awaiter;
  class receive_awaiter;
  class send_operation;
  class receive_operation;

 public:
  explicit channel(std::size_t capacity = 0) noexcept : core_(capacity) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  /// Ends the program if tasks still wait. What is buffered is destroyed.
  ~channel() {
    detail::require_no_waiters(core_.senders, "a channel");
    detail::require_no_waiters(core_.receivers, "a channel");
    while (auto* i = core_.take_buffered()) delete static_cast<item*>(i);
  }

  /// `co_await` it: true when the value is buffered or received; false if the channel is closed, before or meanwhile:
  /// then the value is destroyed, as it is with cancelled_error after a request to stop.
  send_operation send(T value) { return send_operation(core_, new item(std::move(value))); }
  /// `co_await` it: the oldest value, as a std::optional; std::nullopt when the channel is closed and nothing is left.
  /// cancelled_error after a request to stop; then it has received nothing.
  receive_operation receive() noexcept { return receive_operation(core_); }

  /// Sends if it need not wait. False: the value is untouched. Any thread.
  bool try_send(T&& value) { return put_if_place(std::move(value)); }
  bool try_send(const T& value) requires std::is_copy_constructible_v<T> { return put_if_place(value); }
  /// Receives if it need not wait; otherwise std::nullopt. Any thread.
  std::optional<T> try_receive() {
    detail::channel_item* taken = nullptr;
    detail::suspension* woken = nullptr;
    {
      const std::lock_guard hold(core_.lock);
      if (!core_.has_value()) return std::nullopt;
      taken = core_.take(woken);
    }
    if (woken != nullptr) detail::resume_later(woken);
    return item::value_of(taken);
  }

  /// No values are sent from now on, and those who wait to send fail; what is buffered can still be received. Any
  /// thread, any number of times.
  void close() noexcept { core_.close(); }
  bool closed() const noexcept {
    const std::lock_guard hold(core_.lock);
    return core_.closed;
  }
  std::size_t capacity() const noexcept { return core_.capacity(); }

 private:
  template <class U>
  bool put_if_place(U&& value) {
    detail::suspension* woken = nullptr;
    {
      const std::lock_guard hold(core_.lock);
      if (core_.closed || !core_.has_place()) return false;
      woken = core_.put(new item(std::forward<U>(value)));
    }
    if (woken != nullptr) detail::resume_later(woken);
    return true;
  }

  detail::channel_core core_;
};

template <class T>
class channel<T>::item : public detail::channel_item {
 public:
  template <class U>
  explicit item(U&& from) : value_(std::forward<U>(from)) {}

  static void* operator new(std::size_t size) {
    if constexpr (alignof(T) > base::frame_grain) return ::operator new (size, std::align_val_t{alignof(T)});
    return base::allocate_frame(size);
  }
  static void operator delete(void* memory, std::size_t size) noexcept {
    if constexpr (alignof(T) > base::frame_grain) return ::operator delete (memory, size, std::align_val_t{alignof(T)});
    base::release_frame(memory, size);
  }

  /// Moved out of an item, which ends; nothing of null.
  static std::optional<T> value_of(detail::channel_item* taken) {
    if (taken == nullptr) return std::nullopt;
    struct ending {
      item* it;
      ~ending() { delete it; }
    };
    const ending of{static_cast<item*>(taken)};
    return std::optional<T>(std::in_place, std::move(of.it->value_));
  }

 private:
  T value_;
};

template <class T>
class channel<T>::send_awaiter final : public detail::channel_core::sender {
 public:
  using sender::sender;
  ~send_awaiter() { delete static_cast<item*>(this->item_); }
  [[nodiscard("false: the channel is closed, and the value is gone")]] bool await_resume() { return this->sent(); }
};

template <class T>
class channel<T>::receive_awaiter final : public detail::channel_core::receiver {
 public:
  using receiver::receiver;
  ~receive_awaiter() { delete static_cast<item*>(this->item_); }
  std::optional<T> await_resume() {
    this->finish();
    return item::value_of(base::exchange(this->item_, nullptr));
  }
};

/// Owns the value until it is awaited.
template <class T>
class [[nodiscard("nothing is sent before co_await")]] channel<T>::send_operation {
 public:
  send_operation(detail::channel_core & core, item * what) noexcept : core_(&core), item_(what) {}
  send_operation(send_operation && other) noexcept : core_(other.core_), item_(base::exchange(other.item_, nullptr)) {}
  send_operation& operator=(send_operation&&) = delete;
  ~send_operation() { delete item_; }
  send_awaiter operator co_await()&& noexcept { return send_awaiter(*core_, base::exchange(item_, nullptr)); }

 private:
  detail::channel_core* core_;
  item* item_;
};

template <class T>
class [[nodiscard("nothing is received before co_await")]] channel<T>::receive_operation {
 public:
  explicit receive_operation(detail::channel_core & core) noexcept : core_(&core) {}
  receive_awaiter operator co_await() const noexcept { return receive_awaiter(*core_); }

 private:
  detail::channel_core* core_;
};

}  // namespace plait
