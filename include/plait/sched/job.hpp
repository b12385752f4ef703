// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <coroutine>

PLAIT_INTERFACE

namespace plait {
class pool;
}

namespace plait::sched {

class worker;
struct unit;

/// What a queue holds: something that a worker can execute, once. A job is in at most one queue at most once in its
/// life, so its address identifies one push. Who queued it keeps it alive until execute begins; execute ends its use.
struct job {
  void (*execute)(job*, worker&) noexcept;
  job* next_job;  ///< in a job_queue
  unit* as;       ///< the unit that goes on, of which a part has run; null for a job that starts something new
};

/// One party that waits for a task to end. It lies where the waiting happens: in an awaiter, so in the frame of the
/// suspended coroutine, or on the stack of a blocked thread. Its address leaves four bits of the state word free.
struct alignas(16) waiter : job {
  waiter() noexcept {}  // filled in where it is used: most awaiters never wait

  /// Null: resume `handle`. Otherwise called once in place of that, by the thread that completes; gives the waiter to
  /// resume, or null. Must be the last use of this waiter unless it returns it.
  waiter* (*notify)(waiter*) noexcept;
  union {
    std::coroutine_handle<> handle;
  };
  pool* home;  ///< where it resumes
};

}  // namespace plait::sched
