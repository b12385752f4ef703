// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/function_ref.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/outbox.hpp>
#include <plait/dist/transport_hold.hpp>
#include <plait/net/transport.hpp>
#include <plait/wire/framing.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The messages of one rank, both ways. Any thread sends; who holds the transport (`hold()`) receives, and flushes what
/// others have collected. Each message carries the number of its run: one that comes before this rank has begun that
/// run waits.
class link {
 public:
  using handler = function_ref<void(int source, message kind, std::span<const std::byte> payload)>;

  /// may_pump: whether the calling thread may use the transport. call: gets the attention of one that may. later:
  /// somebody must flush before long, also if this thread goes on computing.
  link(net::transport& transport, std::function<bool()> may_pump, std::function<void()> call,
       std::function<void()> later)
      : transport_(transport), may_pump_(std::move(may_pump)), call_(std::move(call)), later_(std::move(later)) {}

  net::transport& transport() noexcept { return transport_; }
  transport_hold& hold() noexcept { return hold_; }
  /// Ends the caller's hold of the transport.
  void release() noexcept {
    if (hold_.release()) call_();
  }
  bool in_run() const noexcept { return in_run_.load(std::memory_order_acquire); }  // partner: enter, leave

  /// Before a run, while nobody else uses the link.
  void next_run() noexcept {
    ++epoch_;
    sent_.reset_counts();
    work_received_ = control_received_ = 0;
  }

  /// The run begins: handles what has come too early for the run before.
  void enter(handler handle) {
    hold_.acquire();
    in_run_.store(true, std::memory_order_release);  // partner: in_run
    const release_at_end end{*this};
    for (auto& m : std::exchange(early_, {})) receive(m.source, m.kind, m.epoch, m.payload, handle);
  }

  /// The run has ended on all ranks: completes what is on its way out.
  void leave(handler handle) {
    hold_.acquire();
    const release_at_end end{*this};
    while (sent_.flush(transport_) != 0 || transport_.sends_pending()) {
      poll(handle);
      std::this_thread::yield();
    }
    in_run_.store(false, std::memory_order_release);  // partner: in_run
  }

  /// Sends a message whose payload `fill(writer&)` writes; nothing is sent if it throws.
  template <class Fill>
  void send(int dest, message kind, Fill&& fill) {
    if (transport_.size() == 1) return send_to_self(kind, std::forward<Fill>(fill));
    if (sent_.add(dest, kind, epoch_, std::forward<Fill>(fill))) {
      pump();
    } else if (may_pump_()) {
      later_();
    } else {
      call_();
    }
  }
  /// The same by the holder of the transport, who flushes at the end.
  template <class Fill>
  void send_held(int dest, message kind, Fill&& fill) {
    sent_.add(dest, kind, epoch_, std::forward<Fill>(fill));
  }
  template <class Head>
  void send_head(int dest, message kind, const Head& head) {
    send_held(dest, kind, [&head](wire::writer& out) { out.write(&head, sizeof head); });
  }

  /// By the holder: hands what was collected to the transport.
  void flush() { sent_.flush(transport_); }

  /// By the holder: handles what has arrived, and says whether there was something.
  bool poll(handler handle) {
    const auto one = [&](int source, std::span<const std::byte> frame) {
      wire::for_each_message(frame, [&](std::uint16_t kind, std::uint32_t epoch, std::span<const std::byte> payload) {
        receive(source, static_cast<message>(kind), epoch, payload, handle);
      });
    };
    if (transport_.size() == 1) return read_own_mail(handle);
    return transport_.poll(one) != 0;
  }

  /// A single rank hears nothing but itself: whether it does. A hint.
  bool quiet() const noexcept { return transport_.size() == 1 && !has_own_mail_.load(std::memory_order_relaxed); }

  // For the end of the run; by the holder.
  std::uint64_t work_sent() const noexcept { return sent_.work_sent(); }
  std::uint64_t control_sent() const noexcept { return sent_.control_sent(); }
  std::uint64_t work_received() const noexcept { return work_received_; }
  std::uint64_t control_received() const noexcept { return control_received_; }

 private:
  struct release_at_end {
    link& l;
    ~release_at_end() { l.release(); }
  };
  struct kept_message {
    int source;
    message kind;
    std::uint32_t epoch;
    std::vector<std::byte> payload;
  };

  void receive(int source, message kind, std::uint32_t epoch, std::span<const std::byte> payload, handler handle) {
    if (epoch != epoch_ || !in_run_.load(std::memory_order_relaxed)) {  // written by holders
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
    if (!may_pump_()) return call_();
    if (!hold_.try_acquire_or_leave_word())
      return later_();  // its flush may be long away, if it is in a native section
    try {
      if (in_run_.load(std::memory_order_relaxed)) sent_.flush(transport_);  // written by holders
    } catch (...) {
      release();
      return later_();  // the poll that follows meets the fault, and reports it
    }
    release();
  }

  /// A single rank needs no transport for what it writes to itself (spmd and its results).
  template <class Fill>
  void send_to_self(message kind, Fill&& fill) {
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
    call_();
  }

  bool read_own_mail(handler handle) {
    std::vector<kept_message> mail;
    {
      const std::lock_guard lock(own_mail_mutex_);
      mail.swap(own_mail_);
      has_own_mail_.store(false, std::memory_order_relaxed);  // under the lock
    }
    for (auto& m : mail) handle(0, m.kind, m.payload);
    return !mail.empty();
  }

  net::transport& transport_;
  const std::function<bool()> may_pump_;
  const std::function<void()> call_;
  const std::function<void()> later_;
  outbox sent_;
  transport_hold hold_;
  std::atomic<bool> in_run_{false};
  std::uint32_t epoch_ = 0;
  std::uint64_t work_received_ = 0;
  std::uint64_t control_received_ = 0;
  std::vector<kept_message> early_;

  std::mutex own_mail_mutex_;
  std::vector<kept_message> own_mail_;
  std::atomic<bool> has_own_mail_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
