// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic_word.hpp>
#include <plait/base/config.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::obs {

/// A number that one thread counts up and any thread may read.
class counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
    // relaxed: one writer; readers want a recent value, not an order
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }  // see add

 private:
  base::atomic_word<std::uint64_t> value_{0};
};

/// What one worker has done since its pool began.
struct worker_counters {
  counter forked;   ///< forks, where statistics were asked for
  counter spawned;  ///< tasks
  counter submitted;
  counter executed;  ///< submitted tasks that it ran
  counter stolen;    ///< jobs that it took from other workers of the process
  counter imported;  ///< submitted tasks that it ran for another rank
  counter parked;    ///< times it went to sleep
  counter ran;       ///< jobs that it ran, and blocking waits after which one went on
};

}  // namespace plait::obs
