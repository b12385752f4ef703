// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/sched/family.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

// Who started whom. A unit is a task that was started (root, forked, spawned, submitted) together with the helpers that
// it awaits inline. Its children are counted in a family, which is made when the first of them is spawned or submitted,
// or when a forked one goes on beside its parent. The fast path of a fork touches no family.

PLAIT_INTERFACE

namespace plait::sched {

/// One started task: what its children, and the questions of the running code, refer to.
struct unit {
  /// Null until the first counted child, or the first question or request about stopping. Made by the unit's own
  /// running code, by who acts for it, or by who cancels it.
  family* children;
  family* parent;  ///< counts this unit; forks use it in another way: see task/frame.hpp
  void* context;   ///< inherited by all that this unit starts: the run of a runtime, or null
  /// When it started, by the workers' clocks (worker.hpp); until then, its parent's time.
  std::uint64_t started;

  /// Its family as it is now, or null.
  family* known_children() const noexcept {
    return base::atomic_ref<family*>(const_cast<family*&>(children)).load(std::memory_order_acquire);  // partner: below
  }
  /// A copy, for what follows its end.
  unit copy() const noexcept { return {known_children(), parent, context, started}; }

  family& make_children() {
    const base::atomic_ref<family*> place(children);
    auto* there = place.load(std::memory_order_acquire);  // partner: the exchange below
    if (there != nullptr) return *there;
    auto* made = family::make(*this);
    // release: the family; acquire on failure: the other's
    if (place.compare_exchange_strong(there, made, std::memory_order_acq_rel, std::memory_order_acquire)) return *made;
    delete made;
    return *there;
  }
  /// Before the end of the unit becomes known, and before its memory ends.
  void retire() noexcept {
    if (auto* own = known_children()) own->stops.set_owner(nullptr);
  }

  /// The unit has ended. `child_of` counts it. Returns a waiter to resume, or null.
  static waiter* count_end(family* own, family* child_of) noexcept {
    if (own == nullptr) return child_of == nullptr ? nullptr : child_of->child_ended(true);
    own->leave();
    own->settle();
    own->parent_family = child_of;
    waiter* joiner = child_of == nullptr ? nullptr : child_of->child_ended(false);
    own->subtree_ended();  // after the line above: it may be the last that keeps child_of alive
    return joiner;
  }
};

}  // namespace plait::sched
