// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/sched/pool.hpp>

#include <algorithm>
#include <cstdint>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The tasks of a rank that others may take: in its workers' deques of submitted tasks, and in the queues of those that
/// prefer a worker. Thread-safe.
class stealable {
 public:
  explicit stealable(pool& p) noexcept : pool_(p) {}

  /// A task has arrived in a thread that is no worker.
  void arrive(sched::job* task) noexcept { pool_.at(0).placed.push(task); }

  /// How many there are; those in queues count as one a queue.
  std::uint64_t count() const noexcept {
    std::uint64_t total = 0;
    for (unsigned i = 0; i < pool_.size(); ++i) {
      const auto& w = pool_.at(i);
      const auto size = w.submitted.size();
      total += (size > 0 ? static_cast<std::uint64_t>(size) : 0) + (w.placed.empty() ? 0 : 1);
    }
    return total;
  }

  /// The oldest of a queue that is not empty, or null.
  sched::job* take_oldest() noexcept {
    for (unsigned i = 0; i < pool_.size(); ++i) {
      auto& w = pool_.at(i);
      if (auto* j = w.submitted.steal()) return j;
      if (auto* j = first_of(w.placed)) return j;
    }
    return nullptr;
  }

 private:
  sched::job* first_of(sched::job_queue& queue) noexcept {
    auto* first = queue.take_all();
    if (first == nullptr || first->next_job == nullptr) return first;
    queue.push_all(first->next_job);
    pool_.parking().notify();  // a worker that looked meanwhile has found the queue empty and may have gone to sleep
    return first;
  }

  pool& pool_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
