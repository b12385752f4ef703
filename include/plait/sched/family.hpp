// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/sched/job.hpp>
#include <plait/sched/stop_node.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

PLAIT_INTERFACE

namespace plait::sched {

struct unit;
class family;

/// Kept with the family of a unit that goes on in another pool than its own, or was started there by one that did. As a
/// job it is what its own pool executes when the family is complete.
struct guest_record : job {
  /// The family is complete. Gives the family above, if it has to be told here and now. Ends the record.
  family* (*leave)(guest_record*, family* above) noexcept;
  pool* home;     ///< where the unit was at first; null if it has not moved
  family* host;   ///< counts it where it is a guest; null where it is none
  family* start;  ///< counts it where it was started by a guest, until it is complete; or null
  family* above;
};

/// The children of one unit. Two counts in one word: children that have not ended (bits 32 to 62), and subtrees that
/// are not complete (bits 0 to 31), where the unit itself is one of the subtrees. Bit 63 is set while the unit waits
/// for the first count to reach zero. When the second reaches zero nobody refers to the family any more, and it ends.
class family : public base::in_frame_memory {
 public:
  /// What follows the end of the last subtree, as the last use of the family. Null: it is on the heap.
  using completion = void (*)(family*) noexcept;

  explicit family(completion on_complete) noexcept : on_complete_(on_complete) {}

  /// A family of its own memory for a unit. It tells `parent_family` (set by then, or null) when it is complete.
  static family* make(unit& owner) {
    auto* made = new family(nullptr);
    made->stops.set_owner(&owner);
    return made;
  }
  /// One more child. The caller's unit, or another unfinished child of it, keeps the family alive.
  void add_child() noexcept { word_.fetch_add(one_child + one_subtree, std::memory_order_relaxed); }  // see child_ended
  /// One more child of the unit whose family it is, by the unit's own running code, or by who holds its place while it
  /// is suspended: counts many at once and keeps what is left.
  PLAIT_ALWAYS_INLINE void add_own_child() noexcept {
    if (credit_ == 0) [[unlikely]] {
      word_.fetch_add(credits * (one_child + one_subtree), std::memory_order_relaxed);  // as add_child
      credit_ = credits;
    }
    --credit_;
  }
  /// Gives back what add_own_child has left: before the unit joins its children, or ends.
  void settle() noexcept {
    if (credit_ != 0)
      word_.fetch_sub(base::exchange(credit_, std::uint64_t{0}) * (one_child + one_subtree),
                      std::memory_order_relaxed);  // not the last
  }
  void add_subtree() noexcept { word_.fetch_add(one_subtree, std::memory_order_relaxed); }  // see subtree_ended

  /// A child has ended and all that it started has too (complete), or not yet. Returns a waiter to resume, or null.
  waiter* child_ended(bool complete) noexcept {
    const auto change = complete ? one_child + one_subtree : one_child;
    // acq_rel: what the child did happens before what follows the wait, and before the end of the family
    const auto before = word_.fetch_sub(change, std::memory_order_acq_rel);
    waiter* joiner = nullptr;
    if ((before & joining) != 0 && children(before) == 1) {
      word_.fetch_and(~joining, std::memory_order_relaxed);  // the unit is suspended, so it keeps the family alive
      joiner = base::exchange(joiner_, nullptr);
    }
    if (complete && subtrees(before) == 1) {
      if (auto* above = end()) above->subtree_ended();
    }
    return joiner;
  }

  /// A subtree whose root had ended before is complete, or the unit itself has ended.
  void subtree_ended() noexcept {
    // A loop, since a chain of tasks of which each has spawned the next may be long.
    for (auto* f = this; f != nullptr; f = f->end()) {
      // acq_rel: all that happened in the subtree happens before the completion
      if (subtrees(f->word_.fetch_sub(one_subtree, std::memory_order_acq_rel)) != 1) return;
    }
  }

  /// Called by the unit: whether children are running, with `w` then notified when the last of them ends.
  bool join(waiter* w) noexcept {
    settle();
    joiner_ = w;
    // release: joiner_; acquire: what ended children did
    const auto before = word_.fetch_or(joining, std::memory_order_acq_rel);
    if (children(before) != 0) return true;
    word_.fetch_and(~joining, std::memory_order_relaxed);  // no child is left that could have seen it
    return false;
  }

  /// By the unit's own running code.
  bool has_children() const noexcept {
    return children(word_.load(std::memory_order_acquire)) != credit_;  // partner: child_ended
  }
  /// Whether only the unit itself, or whoever holds its place, is left.
  bool idle() const noexcept { return subtrees(word_.load(std::memory_order_acquire)) <= 1; }  // partner: subtree_ended

  /// What is kept for a unit that has gone to another pool, or null. Of the unit's own running code.
  guest_record* guest() const noexcept { return guest_; }
  void set_guest(guest_record* g) noexcept { guest_ = g; }

  // ---- the tree of requests to stop ----

  /// Stands below `upper`, whose mutex the caller holds, as well as a subtree of it, which it hands over.
  void join(family& upper) noexcept {
    stops.above = &upper;
    stops.next_sibling = upper.stops.first_below;
    stops.sibling_before = nullptr;
    if (stops.next_sibling != nullptr) stops.next_sibling->stops.sibling_before = this;
    upper.stops.first_below = this;
  }
  /// The unit has ended.
  void leave() noexcept {
    stops.mutex.lock();
    auto* upper = base::exchange(stops.above, nullptr);
    stops.joined.store(true, std::memory_order_relaxed);  // by the mutex: nobody joins it any more
    stops.mutex.unlock();
    if (upper == nullptr) return;
    upper->stops.mutex.lock();
    auto* next = stops.next_sibling;
    auto* before = stops.sibling_before;
    (before != nullptr ? before->stops.next_sibling : upper->stops.first_below) = next;
    if (next != nullptr) next->stops.sibling_before = before;
    upper->stops.mutex.unlock();
    upper->subtree_ended();
  }

 private:
  std::uint64_t credit_ = 0;  ///< of add_own_child; far from the word that those who end write to

 public:
  family* parent_family = nullptr;  ///< told when this family is complete
  stop_node stops;                  ///< how a request to stop reaches the unit, and those that it has forked

 private:
  static constexpr std::uint64_t one_subtree = 1;
  static constexpr std::uint64_t one_child = std::uint64_t{1} << 32;
  static constexpr std::uint64_t joining = std::uint64_t{1} << 63;
  static constexpr std::uint64_t children(std::uint64_t word) noexcept { return (word & ~joining) >> 32; }
  static constexpr std::uint64_t subtrees(std::uint64_t word) noexcept { return word & 0xffffffffu; }

  /// The last subtree has ended. Gives the family above, which has to be told, or null.
  family* end() noexcept {
    if (on_complete_ != nullptr) {
      on_complete_(this);
      return nullptr;
    }
    auto* above = parent_family;
    auto* guest = guest_;
    delete this;
    return guest == nullptr ? above : guest->leave(guest, above);
  }

  static constexpr std::uint64_t credits = 64;

  base::atomic<std::uint64_t> word_{one_subtree};
  waiter* joiner_ = nullptr;
  completion on_complete_;
  guest_record* guest_ = nullptr;
};

}  // namespace plait::sched
