// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/pause.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/outbox.hpp>
#include <plait/dist/transport_hold.hpp>
#include <plait/net/transport.hpp>
#include <plait/wire/framing.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// What a link wants of the rank that it belongs to.
class link_owner {
 public:
  /// Whether the calling thread may use the transport.
  virtual bool may_pump() const noexcept = 0;
  /// Gets the attention of a thread that may.
  virtual void call_poller() noexcept = 0;
  /// Somebody must flush before long, also if this thread goes on computing.
  virtual void poll_later() noexcept = 0;

 protected:
  ~link_owner() = default;
};

/// The messages of one rank, both ways. Any thread sends; who holds the transport (`hold()`) receives, and flushes what
/// others have collected. Each message carries the number of its run: one that comes before this rank has begun that
/// run waits.
class link {
 public:
  using handler = function_ref<void(int source, message kind, std::span<const std::byte> payload)>;

  /// Both must outlive it.
  link(net::transport& transport, link_owner& owner) noexcept
      : transport_(transport), owner_(owner), alone_(transport.size() == 1) {}

  net::transport& transport() noexcept { return transport_; }
  transport_hold& hold() noexcept { return hold_; }
  /// Ends the caller's hold of the transport.
  void release() noexcept {
    if (hold_.release()) owner_.call_poller();
  }
  /// A hold of the transport, for a scope.
  class held {
   public:
    explicit held(link& l) noexcept : link_(l) { l.hold_.acquire(); }
    ~held() { link_.release(); }
    held(const held&) = delete;
    held& operator=(const held&) = delete;

   private:
    link& link_;
  };
  bool in_run() const noexcept { return in_run_.load(std::memory_order_acquire); }  // partner: enter, leave

  /// Before a run, while nobody else uses the link.
  void next_run() noexcept {
    ++epoch_;
    sent_.reset_counts();
    work_received_ = control_received_ = 0;
  }

  /// The run begins: handles what has come too early for the run before.
  void enter(handler handle) {
    const held own(*this);
    in_run_.store(true, std::memory_order_release);  // partner: in_run
    base::growing_array<kept_message> early;
    early.swap(early_);
    for (const auto& m : early) receive(m.source, m.kind, m.epoch, m.payload, handle);
  }

  /// The run has ended on all ranks: completes what is on its way out.
  void leave(handler handle) {
    const held own(*this);
    while (sent_.flush(transport_, true) != 0 || transport_.sends_pending()) {
      poll(handle);
      base::give_way();
    }
    in_run_.store(false, std::memory_order_release);  // partner: in_run
  }

  /// Sends a message whose payload `fill(writer&)` writes; nothing is sent if it throws. counts: see outbox::add.
  void send(int dest, message kind, function_ref<void(wire::writer&)> fill, bool counts = false) {
    if (alone_) return send_to_self(kind, fill);
    if (sent_.add(dest, kind, epoch_, fill, counts)) {
      pump();
    } else if (owner_.may_pump()) {
      owner_.poll_later();
    } else {
      owner_.call_poller();
    }
  }
  /// The same by the holder of the transport, who flushes at the end.
  void send_held(int dest, message kind, function_ref<void(wire::writer&)> fill) {
    sent_.add(dest, kind, epoch_, fill);
  }
  /// The same for a payload that lies there as bytes, in two parts.
  void send_bytes(int dest, message kind, std::span<const std::byte> head, std::span<const std::byte> rest = {}) {
    send_held(dest, kind, [head, rest](wire::writer& out) {
      out.write(head.data(), head.size());
      out.write(rest.data(), rest.size());
    });
  }
  template <class Head>
  void send_head(int dest, message kind, const Head& head, std::span<const std::byte> rest = {}) {
    send_bytes(dest, kind, {reinterpret_cast<const std::byte*>(&head), sizeof head}, rest);
  }

  /// By the holder: credit has come back.
  void returned(int dest, std::uint64_t cost) { sent_.returned(dest, cost); }
  /// Since the beginning; any thread.
  std::uint64_t frames_sent() const noexcept { return sent_.frames_sent(); }
  std::uint64_t bytes_sent() const noexcept { return sent_.bytes_sent(); }
  std::uint64_t tasks_sent() const noexcept { return sent_.tasks_sent(); }

  /// By the holder: hands what was collected to the transport.
  void flush() { sent_.flush(transport_, false); }
  /// The same at the end of a poll. certain: see outbox::flush.
  void flush_polled(bool certain) {
    sent_.flush(transport_, certain);
    sent_.polled();
  }

  /// By the holder: handles what has arrived, and says whether there was something.
  bool poll(handler handle) {
    const auto one = [&](int source, std::span<const std::byte> frame) {
      wire::for_each_message(frame, [&](std::uint16_t kind, std::uint32_t epoch, std::span<const std::byte> payload) {
        receive(source, static_cast<message>(kind), epoch, payload, handle);
      });
    };
    if (alone_) return read_own_mail(handle);
    return transport_.poll(one) != 0;
  }

  /// A single rank hears nothing but itself: whether it does. A hint.
  bool quiet() const noexcept { return alone_ && !has_own_mail_.load(std::memory_order_relaxed); }

  // For the end of the run; by the holder.
  std::uint64_t work_sent() const noexcept { return sent_.work_sent(); }
  std::uint64_t control_sent() const noexcept { return sent_.control_sent(); }
  std::uint64_t work_received() const noexcept { return work_received_; }
  std::uint64_t control_received() const noexcept { return control_received_; }

 private:
  struct kept_message {
    int source;
    message kind;
    std::uint32_t epoch;
    std::vector<std::byte> payload;
  };

  void receive(int source, message kind, std::uint32_t epoch, std::span<const std::byte> payload, handler handle) {
    if (epoch != epoch_ || !in_run_.load(std::memory_order_relaxed)) {  // written by holders
      if (static_cast<std::int32_t>(epoch - epoch_) < 0)
        throw error(
            "plait: a message of an earlier run has come in this one: the transport or plait is at fault, please "
            "report it");
      // The sender has begun the next run already.
      early_.push_back({source, kind, epoch, {payload.begin(), payload.end()}});
      return;
    }
    if (is_work(kind)) ++work_received_;
    if (is_control(kind)) ++control_received_;
    handle(source, kind, payload);
  }

  /// Flushes if this thread may and nobody else holds the transport. Whoever does flushes too, but may have done so
  /// already.
  void pump() noexcept {
    if (!owner_.may_pump()) return owner_.call_poller();
    if (!hold_.try_acquire_or_leave_word())
      return owner_.poll_later();  // its flush may be long away, if it is in a native section
    try {
      if (in_run_.load(std::memory_order_relaxed)) sent_.flush(transport_, false);  // written by holders
    } catch (...) {
      release();
      return owner_.poll_later();  // the poll that follows meets the fault, and reports it
    }
    release();
  }

  /// A single rank needs no transport for what it writes to itself (spmd and its results).
  void send_to_self(message kind, function_ref<void(wire::writer&)> fill) {
    kept_message m{0, kind, epoch_, {}};
    {
      wire::writer out(m.payload);
      fill(out);
    }
    {
      const std::lock_guard lock(own_mail_mutex_);
      own_mail_.push_back(std::move(m));
      has_own_mail_.store(true, std::memory_order_relaxed);  // a hint; read_own_mail looks under the lock
    }
    owner_.call_poller();
  }

  bool read_own_mail(handler handle) {
    base::growing_array<kept_message> mail;
    {
      const std::lock_guard lock(own_mail_mutex_);
      mail.swap(own_mail_);
      has_own_mail_.store(false, std::memory_order_relaxed);  // under the lock
    }
    for (const auto& m : mail) handle(0, m.kind, m.payload);
    return !mail.empty();
  }

  net::transport& transport_;
  link_owner& owner_;
  const bool alone_;
  outbox sent_;
  transport_hold hold_;
  base::atomic<bool> in_run_{false};
  std::uint32_t epoch_ = 0;
  std::uint64_t work_received_ = 0;
  std::uint64_t control_received_ = 0;
  base::growing_array<kept_message> early_;

  std::mutex own_mail_mutex_;
  base::growing_array<kept_message> own_mail_;
  base::atomic<bool> has_own_mail_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
