// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/task/sync/sync_awaiter.hpp>

#include <coroutine>
#include <cstddef>
#include <mutex>
#include <utility>

// A channel without the type of its values: they lie in items, which are made before and read after the lock is held.

PLAIT_INTERFACE

namespace plait::detail {

struct channel_item {
  channel_item* next = nullptr;
};

/// While receivers wait, nothing is buffered and no sender waits; while senders wait, the buffer is full.
class channel_core {
 public:
  explicit channel_core(std::size_t capacity) noexcept : capacity_(capacity) {}
  channel_core(const channel_core&) = delete;
  channel_core& operator=(const channel_core&) = delete;

  class party;
  class sender;
  class receiver;

  void close() noexcept {
    sched::job* waiting_receivers = nullptr;
    sched::job* waiting_senders = nullptr;
    {
      const std::lock_guard hold(lock);
      closed = true;
      waiting_receivers = receivers.take_all();
      waiting_senders = senders.take_all();
    }
    resume_all(waiting_receivers);  // the channel may have ended
    resume_all(waiting_senders);
  }

  // By the holder of the lock:

  /// Whether a value has where to go.
  bool has_place() const noexcept { return !receivers.empty() || count_ < capacity_; }
  /// Where there is place. Gives the receiver that has it now, to be resumed, or null.
  suspension* put(channel_item* item) noexcept;
  /// Whether a value can be had.
  bool has_value() const noexcept { return first_ != nullptr || !senders.empty(); }
  /// Where there is one: the oldest. woken: the sender that is to be resumed for it, or null.
  channel_item* take(suspension*& woken) noexcept;
  /// The next buffered one, or null.
  channel_item* take_buffered() noexcept {
    auto* item = first_;
    if (item == nullptr) return nullptr;
    first_ = item->next;
    if (first_ == nullptr) last_ = nullptr;
    --count_;
    return item;
  }

  mutable base::spin_lock lock;
  suspension_queue receivers;
  suspension_queue senders;
  bool closed = false;

  std::size_t capacity() const noexcept { return capacity_; }

 private:
  void append(channel_item* item) noexcept {
    item->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = item;
    last_ = item;
    ++count_;
  }

  const std::size_t capacity_;
  std::size_t count_ = 0;
  channel_item* first_ = nullptr;
  channel_item* last_ = nullptr;
};

/// Who sends or receives.
class channel_core::party : public sync_awaiter {
 protected:
  party(channel_core& core, suspension_queue& queue, channel_item* item) noexcept
      : sync_awaiter(core.lock, queue), core_(core), item_(item) {}
  ~party() = default;

  friend channel_core;
  channel_core& core_;
  channel_item* item_;  ///< what is to be sent, until somebody has it; what was received
};

class channel_core::sender : public party {
 public:
  sender(channel_core& core, channel_item* item) noexcept : party(core, core.senders, item) {}

  bool await_ready() noexcept {
    suspension* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (core_.closed) return true;
      if (!core_.has_place()) return false;
      woken = core_.put(base::exchange(item_, nullptr));
    }
    if (woken != nullptr) resume_later(woken);
    return true;
  }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    suspension* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (!queue_.pass(*this) || core_.closed) return false;
      if (!core_.has_place()) return queue_.push_back(*this);
      woken = core_.put(base::exchange(item_, nullptr));
    }
    if (woken != nullptr) resume_later(woken);
    return false;
  }

 protected:
  ~sender() = default;
  /// In await_resume. False: the channel was closed.
  bool sent() {
    finish();
    return item_ == nullptr;
  }
};

class channel_core::receiver : public party {
 public:
  explicit receiver(channel_core& core) noexcept : party(core, core.receivers, nullptr) {}

  bool await_ready() noexcept {
    suspension* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (!core_.has_value()) return core_.closed;
      item_ = core_.take(woken);
    }
    if (woken != nullptr) resume_later(woken);
    return true;
  }
  bool await_suspend(std::coroutine_handle<> h) {
    if (!begin(h)) return false;
    suspension* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (!queue_.pass(*this)) return false;
      if (!core_.has_value()) return !core_.closed && queue_.push_back(*this);
      item_ = core_.take(woken);
    }
    if (woken != nullptr) resume_later(woken);
    return false;
  }

 protected:
  ~receiver() = default;
};

inline suspension* channel_core::put(channel_item* item) noexcept {
  auto* r = receivers.pop_front();
  if (r == nullptr) {
    append(item);
  } else {
    static_cast<party*>(r)->item_ = item;
  }
  return r;
}

inline channel_item* channel_core::take(suspension*& woken) noexcept {
  woken = senders.pop_front();
  auto* from_sender = woken != nullptr ? base::exchange(static_cast<party*>(woken)->item_, nullptr) : nullptr;
  auto* oldest = take_buffered();
  if (oldest == nullptr) return from_sender;
  if (from_sender != nullptr) append(from_sender);
  return oldest;
}

}  // namespace plait::detail
