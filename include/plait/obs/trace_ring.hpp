// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::obs {

/// What a record of a trace says; see watcher.
enum class trace_kind : std::uint32_t {
  began = 1,
  ended,
  went_on,
  switched,
  returned,
  started,
  left,
  stole,
  sampled,
  region_began,
  region_ended,
  woke,
  arrived,
};

/// As it lies in memory and in the file of a rank's part.
struct trace_record {
  std::int64_t time;   ///< steady clock, nanoseconds
  std::uint64_t unit;  ///< address, or the region's number
  std::uint64_t value;
  trace_kind kind;
  std::uint32_t name;  ///< where it begins among the names, and one more; 0: none
};
static_assert(sizeof(trace_record) == 32);

/// Where a worker's records begin, in memory that other processes may read.
struct trace_ring_head {
  std::uint64_t written;  ///< records so far; the ring has the last of them
  std::uint64_t unused[7];
};

/// The newest records of one worker, who alone adds.
class trace_ring {
 public:
  trace_ring() noexcept {}
  /// capacity: records, a power of two.
  void place(trace_ring_head* head, trace_record* records, std::uint64_t capacity) noexcept {
    head_ = head;
    records_ = records;
    mask_ = capacity - 1;
  }
  bool is_placed() const noexcept { return head_ != nullptr; }
  void add(const trace_record& r) noexcept {
    const auto n = head_->written;
    records_[n & mask_] = r;
    base::atomic_ref<std::uint64_t>(head_->written)
        .store(n + 1, std::memory_order_release);  // partner: who reads the file
  }

 private:
  trace_ring_head* head_ = nullptr;
  trace_record* records_ = nullptr;
  std::uint64_t mask_ = 0;
};

}  // namespace plait::obs
