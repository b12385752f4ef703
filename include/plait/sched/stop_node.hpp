// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/spin_lock.hpp>
#include <plait/sched/job.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <utility>

PLAIT_INTERFACE

namespace plait::sched {

class family;
struct unit;

/// Where a task is suspended from which it can be taken away: a timer, the queue of a latch.
struct interruptible {
  /// Takes the task out of where it waits and gives what resumes it, or null if somebody else resumes it already.
  virtual waiter* interrupt() noexcept = 0;

 protected:
  ~interruptible() = default;
};

/// A unit's place in the tree of requests to stop. It is part of the unit's family, which is held by those below it, so
/// that they may look at it when the unit has ended. A node joins the tree when its unit first asks about stopping or
/// suspends where a request would wake it; then all units that it was forked from, directly or not, join it too.
/// Locks are taken from a node towards those above it. task/stop.hpp moves in the tree.
class stop_node {
 public:
  base::spin_lock mutex;                      ///< of what follows, up to `source`
  unit* owner = nullptr;                      ///< null when the unit is ending
  family* above = nullptr;                    ///< of the unit that has forked this one; held while it stands here
  family* first_below = nullptr;              ///< of units that this one has forked, linked by next_sibling
  std::stop_source source{std::nostopstate};  ///< for those who want a std::stop_token

  base::atomic<bool> joined{false};  ///< `above` is final; written by the holder of the mutex
  family* next_sibling = nullptr;    ///< this and the next: by the mutex of the node above
  family* sibling_before = nullptr;
  family* next_told = nullptr;  ///< in the list of who requests a stop

  /// Whether a stop was requested. Any thread.
  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }  // partner: request
  /// True for the first.
  bool request() noexcept { return !requested_.exchange(true, std::memory_order_acq_rel); }  // see requested

  void set_owner(unit* u) noexcept {
    mutex.lock();
    owner = u;
    mutex.unlock();
  }

  // The place of the unit's suspension that a request interrupts. A unit waits in one such place at a time; where code
  // that is not plait's brings it into a second one, that can't be interrupted.

  /// Before the unit suspends. False: a stop was requested before.
  bool enter(interruptible& where) noexcept {
    interruptible* expected = nullptr;
    // release: what `where` holds; partner: take_suspension
    return suspended_.compare_exchange_strong(expected, &where, std::memory_order_acq_rel, std::memory_order_acquire) ||
           (expected != closed() && expected != busy());
  }
  /// Afterwards, in whatever way it was resumed. `where` may end then.
  void leave_suspension(interruptible& where) noexcept {
    interruptible* expected = &where;
    if (suspended_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel, std::memory_order_acquire))
      return;
    while (expected == busy()) {
      base::give_way();
      expected = suspended_.load(std::memory_order_acquire);  // partner: close
    }
  }
  /// By who requests, once: the suspension, which stays until close, or null.
  interruptible* take_suspension() noexcept {
    return suspended_.exchange(busy(), std::memory_order_acq_rel);  // partner: enter
  }
  /// From here on enter refuses.
  void close() noexcept { suspended_.store(closed(), std::memory_order_release); }  // partner: leave_suspension

 private:
  static interruptible* busy() noexcept { return reinterpret_cast<interruptible*>(std::uintptr_t{1}); }
  static interruptible* closed() noexcept { return reinterpret_cast<interruptible*>(std::uintptr_t{2}); }

  base::atomic<bool> requested_{false};
  base::atomic<interruptible*> suspended_{nullptr};
};

}  // namespace plait::sched
