// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/messages.hpp>
#include <plait/net/transport.hpp>
#include <plait/wire/framing.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Messages on their way to the transport, collected into one frame a rank: batches make the rate of small tasks. Any
/// thread adds; whoever holds the transport flushes. The memory of a peer is made when it is first written to.
class outbox {
 public:
  using clock = std::chrono::steady_clock;

  /// Appends a message. True if it should be flushed soon: its frame is large, or the last flush is long enough ago for
  /// batching to gain nothing. If `fill(writer&)` throws, nothing was added.
  template <class Fill>
  bool add(int dest, message kind, std::uint32_t epoch, Fill&& fill) {
    const std::lock_guard lock(mutex_);
    auto& frame = open_frame(dest);
    const bool was_empty = frame.empty();
    wire::frame_builder builder(frame);
    builder.add(static_cast<std::uint16_t>(kind), epoch, std::forward<Fill>(fill));
    builder.flush();
    if (was_empty) dirty_.push_back(dest);
    // relaxed: written under the lock; who reads them for the end of a run holds the transport and knows by the counts
    // of tasks that nobody is adding
    if (is_work(kind)) {
      work_sent_.store(work_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else if (is_control(kind)) {
      control_sent_.store(control_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    waiting_.store(true, std::memory_order_relaxed);  // a hint; flush looks under the lock
    return frame.size() > batch_bytes || clock::now() - flushed_ > batch_time;
  }

  /// Hands all frames to the transport, which the caller holds. Returns how many there were.
  int flush(net::transport& transport) {
    if (!waiting_.load(std::memory_order_relaxed)) return 0;  // a hint: what is added now is flushed by who adds it
    int count = 0;
    const std::lock_guard lock(mutex_);
    for (const int dest : dirty_) {
      auto next = transport.new_frame();
      std::swap(next, frames_[dest]);
      transport.send(dest, std::move(next));
      ++count;
    }
    dirty_.clear();
    flushed_ = clock::now();
    waiting_.store(false, std::memory_order_relaxed);  // under the lock
    return count;
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

 private:
  static constexpr std::size_t batch_bytes = 8 * 1024;
  static constexpr std::chrono::microseconds batch_time{3};

  net::frame& open_frame(int dest) { return frames_[dest]; }

  mutable std::mutex mutex_;
  std::unordered_map<int, net::frame> frames_;
  std::vector<int> dirty_;
  clock::time_point flushed_{};
  std::atomic<std::uint64_t> work_sent_{0};
  std::atomic<std::uint64_t> control_sent_{0};
  std::atomic<bool> waiting_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
