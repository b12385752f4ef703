// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/dist/submit.hpp>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

// What a task can ask. All throw plait::error outside of a run.

/// The rank that the task runs on, from 0.
inline int rank() { return dist::running("rank()").second->home->rank(); }
/// The number of ranks.
inline int size() { return dist::running("size()").second->home->size(); }
/// The worker that the task runs on now, counted within its rank. Throws plait::error in a task that has gone to
/// another pool with resume_on.
inline int local_worker_id() {
  const auto [w, run] = dist::running("local_worker_id()");
  if (&w->home() != &run->home->pool()) {
    throw error(
        "plait: the number of the worker was asked for in a task that has gone to another pool, whose workers the "
        "ranks do not count: ask before resume_on");
  }
  return static_cast<int>(w->index());
}
/// The same, counted over all ranks: contiguous by rank, and local worker 0 is the thread that called run. It may
/// change at each suspension.
inline int worker_id() {
  const auto [w, run] = dist::running("worker_id()");
  return run->home->numbers().first_of(run->home->rank()) + local_worker_id();
}
/// The number of workers of all ranks.
inline int num_workers() { return dist::running("num_workers()").second->home->numbers().count(); }
/// The number of this rank's workers.
inline int num_local_workers() {
  return static_cast<int>(dist::running("num_local_workers()").second->home->pool().size());
}

/// Seconds since a moment in the past that is fixed while the process runs. Anywhere, any thread.
inline double wtime() { return std::chrono::duration<double>(base::now().time_since_epoch()).count(); }

}  // namespace PLAIT_DIST
}  // namespace plait
