// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>

#include <cstdint>

PLAIT_INTERFACE

namespace plait::sched {

class worker;

/// What lies beyond a pool, other ranks for instance, as its workers see it. The layer above fills it in.
class outside {
 public:
  virtual ~outside() = default;
  /// Handles what has arrived, if this worker may and nobody else is at it. True if something was done. Runs no code of
  /// tasks: what they must be told becomes jobs of this worker.
  virtual bool poll(worker& w) noexcept = 0;
  /// The same by a worker that is about to sleep: if another is at it, that one looks again.
  virtual bool poll_last(worker& w) noexcept = 0;
  /// Whether something is under way that tasks of this process wait for. When that ceases, its jobs have been queued;
  /// if no worker has done so, those that sleep have been woken.
  virtual bool expects_something() const noexcept = 0;
  /// The worker found nothing in the process: a chance to ask elsewhere. True if something was done.
  virtual bool seek(worker& w) noexcept = 0;
  /// Whether this worker may be the one that sleeps where it hears what arrives.
  virtual bool may_listen(const worker& w) const noexcept = 0;
  /// Before the last look at the queues; the ticket goes to listen.
  virtual std::uint64_t prepare_listen() noexcept = 0;
  /// Sleeps until something arrives, wake was called after prepare_listen, or the time has come (max: no limit).
  virtual void listen(std::uint64_t ticket, std::chrono::steady_clock::time_point until) noexcept = 0;
  /// Ends listen. Any thread.
  virtual void wake() noexcept = 0;
  /// Before and after the first worker goes on with a bound unit (worker.hpp).
  virtual void enter_bound() noexcept = 0;
  virtual void leave_bound() noexcept = 0;
  /// Whether the calling thread is between the two.
  virtual bool in_bound() const noexcept = 0;
};

}  // namespace plait::sched
