// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/dist/credits.hpp>
#include <plait/dist/messages.hpp>
#include <plait/net/transport.hpp>
#include <plait/obs/counters.hpp>
#include <plait/wire/framing.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Messages on their way to the transport, collected into frames: batches make the rate of small tasks. Each message
/// that fits into a frame that keeps its order is in such a one. Any thread adds; whoever holds the transport flushes.
/// There is memory only for the frames between two flushes, and for the tasks that a rank may not get yet.
class outbox {
 public:
  using clock = std::chrono::steady_clock;

  /// Appends a message. True if it should be flushed soon: it is the first since the last poll, and nothing says that
  /// more will follow; its frame is large; or the last flush is long enough ago for batching to gain nothing. If
  /// `fill(writer&)` throws, nothing was added. counts: a task that is subject to flow control.
  bool add(int dest, message kind, std::uint32_t epoch, function_ref<void(wire::writer&)> fill, bool counts = false) {
    const std::lock_guard lock(mutex_);
    auto& to = peer_of(dest);
    if (to.flow.must_hold(kind, counts)) {
      to.flow.hold(kind, epoch, fill, counts);
      count(kind);
      return false;
    }
    if (open_ == frames_.size()) frames_.push_back({});
    const bool first = to.frame == none;
    auto& frame = frames_[first ? open_ : to.frame].bytes;
    const auto before = frame.size();
    const auto payload = outflow::append(frame, kind, epoch, fill);
    const bool too_large = !first && frame.size() > net::eager_limit;
    if (too_large) {
      auto& next = frames_[open_].bytes;
      try {
        next.assign(frame.begin() + static_cast<std::ptrdiff_t>(before), frame.end());
      } catch (...) {
        frame.resize(before);
        throw;
      }
      frame.resize(before);
    }
    if (first || too_large) {
      frames_[open_].dest = dest;
      to.frame = open_++;
    }
    if (counts) to.flow.sent(payload);
    count(kind);
    waiting_.store(true, std::memory_order_relaxed);  // a hint; flush looks under the lock
    // relaxed: hints; see polled
    const auto earlier = since_poll_.load(std::memory_order_relaxed);
    since_poll_.store(earlier + 1, std::memory_order_relaxed);
    if (earlier == 0 && come_singly_.load(std::memory_order_relaxed)) return true;
    return too_large || frame.size() > batch_bytes || base::now() - flushed_ > batch_time;
  }

  /// A rank has started tasks of this one that count so much: what waits for that goes with the next flush.
  void returned(int dest, std::uint64_t cost) {
    const std::lock_guard lock(mutex_);
    peer_of(dest).flow.returned(cost, [&](net::frame&& bytes) { released_.push_back({dest, std::move(bytes)}); });
    waiting_.store(true, std::memory_order_relaxed);  // as in add
  }

  /// Hands all frames to the transport, which the caller holds. Returns how many there were. certain: also a message
  /// whose sender leaves the flush to somebody else, and then saw that this thread was called already (under the lock
  /// either that sender's message is seen here, or it sees that the call has been answered).
  int flush(net::transport& transport, bool certain) {
    // relaxed: a hint; what is added now is flushed by who adds it, or by who is called after that
    if (!certain && !waiting_.load(std::memory_order_relaxed)) return 0;
    const std::lock_guard lock(mutex_);
    const auto count = static_cast<int>(released_.size() + open_);
    // First: what was added since, such as a request to stop one of these tasks, comes after them.
    for (auto& frame : released_) {
      bytes_.add(frame.bytes.size());
      transport.send(frame.dest, std::move(frame.bytes));
    }
    released_.clear();
    for (std::uint32_t i = 0; i < open_; ++i) {
      auto next = transport.new_frame();
      next.swap(frames_[i].bytes);
      peer_of(frames_[i].dest).frame = none;
      bytes_.add(next.size());
      transport.send(frames_[i].dest, std::move(next));
    }
    messages_.add(static_cast<std::uint64_t>(count));
    open_ = 0;
    flushed_ = base::now();
    waiting_.store(false, std::memory_order_relaxed);  // under the lock
    return count;
  }

  /// The holder has looked for messages and flushes: the next message does not belong to the ones before. Where there
  /// were several of these, as in a stream of tasks, there will be several again.
  void polled() noexcept {
    const auto count = since_poll_.load(std::memory_order_relaxed);  // hints, all
    if (const bool singly = count <= 1; singly != come_singly_.load(std::memory_order_relaxed))
      come_singly_.store(singly, std::memory_order_relaxed);
    if (count != 0) since_poll_.store(0, std::memory_order_relaxed);
  }

  bool waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }  // a hint

  /// Messages added in this run.
  std::uint64_t work_sent() const noexcept { return work_sent_.load(std::memory_order_relaxed); }        // see add
  std::uint64_t control_sent() const noexcept { return control_sent_.load(std::memory_order_relaxed); }  // see add
  /// A run begins.
  void reset_counts() noexcept {
    work_sent_.store(0, std::memory_order_relaxed);  // nobody adds between runs
    control_sent_.store(0, std::memory_order_relaxed);
  }

  /// Since the beginning; any thread.
  std::uint64_t frames_sent() const noexcept { return messages_.read(); }
  std::uint64_t bytes_sent() const noexcept { return bytes_.read(); }
  std::uint64_t tasks_sent() const noexcept { return tasks_.read(); }

 private:
  static constexpr std::size_t batch_bytes = 8 * 1024;
  static constexpr std::chrono::microseconds batch_time{3};

  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  struct open_frame {
    int dest = -1;
    net::frame bytes;
  };

  obs::counter messages_;  ///< written under the lock
  obs::counter bytes_;
  obs::counter tasks_;

  struct peer {
    std::uint32_t frame = none;  ///< its last one that is open
    outflow flow;
  };
  peer& peer_of(int dest) {
    while (peers_.size() <= static_cast<std::size_t>(dest)) peers_.push_back({});
    return peers_[static_cast<std::size_t>(dest)];
  }

  void count(message kind) noexcept {
    if (kind == message::task) tasks_.add();
    // relaxed: written under the lock; who reads them for the end of a run holds the transport and knows by the counts
    // of tasks that nobody is adding
    if (is_work(kind)) {
      work_sent_.store(work_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else if (is_control(kind)) {
      control_sent_.store(control_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }

  mutable std::mutex mutex_;
  base::growing_array<peer> peers_;         // by rank
  base::growing_array<open_frame> frames_;  // those from open_ on are empty, with memory to reuse
  base::growing_array<open_frame> released_;
  std::uint32_t open_ = 0;
  clock::time_point flushed_{};
  base::atomic<std::uint64_t> work_sent_{0};
  base::atomic<std::uint64_t> control_sent_{0};
  base::atomic<bool> waiting_{false};
  base::atomic<std::uint32_t> since_poll_{0};
  base::atomic<bool> come_singly_{true};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
