// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/sched/job.hpp>

#include <atomic>
#include <utility>

PLAIT_INTERFACE

namespace plait::sched {

/// Turns a list by next_job round; gives its new first job.
inline job* reversed(job* list) noexcept {
  job* first = nullptr;
  while (list != nullptr) first = base::exchange(list, base::exchange(list->next_job, first));
  return first;
}

/// A lock-free queue of jobs for any number of producers and consumers. Producers link a job in front of the list by
/// compare-exchange (Treiber 1986); a consumer takes the whole list by one exchange and turns it round, so nobody ever
/// follows a link that another thread may change, and there is no ABA problem. Allocates nothing: the link is in the
/// job.
class job_queue {
 public:
  /// Any thread.
  void push(job* j) noexcept {
    auto* before = newest_.load(std::memory_order_relaxed);  // only compared
    do {
      j->next_job = before;
      // release: the job and its link; partner: take_all. relaxed on failure: only compared
    } while (!newest_.compare_exchange_weak(before, j, std::memory_order_release, std::memory_order_relaxed));
  }

  /// Puts a list, linked in order of arrival, back at the end. Any thread.
  void push_all(job* first) noexcept {
    while (first != nullptr) push(base::exchange(first, first->next_job));
  }

  /// All jobs, linked in the order in which they came, or null. Any thread.
  job* take_all() noexcept {
    if (empty()) return nullptr;
    return reversed(newest_.exchange(nullptr, std::memory_order_acquire));  // partner: push
  }

  /// A hint, stale at once.
  bool empty() const noexcept { return newest_.load(std::memory_order_relaxed) == nullptr; }  // take_all looks again

 private:
  base::atomic<job*> newest_{nullptr};
};

}  // namespace plait::sched
