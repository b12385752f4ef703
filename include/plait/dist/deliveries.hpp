// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/portable.hpp>
#include <plait/sched/pool.hpp>

#include <cstdint>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The jobs that tell tasks that what they wait for has come. Jobs, since callbacks are user code.
class deliveries {
 public:
  void add(awaiting_reply& who) noexcept {
    auto* const j = &who.deliver;
    j->next_job = nullptr;
    (first_ == nullptr ? first_ : last_->next_job) = j;
    last_ = j;
    ++count_;
  }
  /// Moves the others' behind its own.
  void add(deliveries& others) noexcept {
    if (others.first_ == nullptr) return;
    (first_ == nullptr ? first_ : last_->next_job) = std::exchange(others.first_, nullptr);
    last_ = others.last_;
    count_ += std::exchange(others.count_, 0);
  }
  std::uint64_t count() const noexcept { return count_; }

  /// Queues them, by a worker or, if it is null, by another thread. One is for the worker that has got it, while it is
  /// warm; of several other workers may take some. Nothing may be added afterwards.
  void queue(sched::worker* w, pool& p) noexcept {
    if (first_ == nullptr) return;
    if (w != nullptr && (first_ == last_ || p.size() == 1)) return w->add_bound(first_, last_);
    auto* next = first_;
    if (w != nullptr) next = sched::reversed(next);  // its deque gives the newest first
    while (next != nullptr) {
      auto* const j = std::exchange(next, next->next_job);
      j->next_job = nullptr;
      p.post(j);
    }
  }

 private:
  sched::job* first_ = nullptr;
  sched::job* last_ = nullptr;
  std::uint64_t count_ = 0;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
