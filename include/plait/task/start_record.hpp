// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/sched/unit.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::detail {

using sched::family;
using sched::unit;

/// The part of a frame that says where control goes at the end of the task. As a job it is, for a fork, the parent's
/// continuation, and for a spawned task the task itself.
struct start_record : sched::job, unit {
  start_record() noexcept {}  // what is needed is set where the task is started; most tasks are calls

  union {
    std::coroutine_handle<> continuation;  ///< call: the caller; fork: the parent
    pool* home;                            ///< spawned: where it was queued; see home_of
  };
  /// Forks: how child and parent tell each other that they run side by side. Null at first. Who takes the parent's
  /// continuation from the deque puts the parent's family there; the child at its end puts `link_ended` and its own
  /// family, if it has one. The second of the two, who finds the first's word, does the accounting. It lies in the
  /// place of the unit's parent, which nobody knows before.
  base::atomic_ref<family*> link() noexcept { return base::atomic_ref<family*>(parent); }
};

// A spawned task that has begun needs its home no more. Where somebody watches, the time of its beginning takes the
// place, marked by an odd number, which no home is. Relaxed: who still asks for the home finds a wrong one, and cannot
// run the task either way.
inline pool* home_of(start_record& spawned) noexcept {
  return base::atomic_ref<pool*>(spawned.home).load(std::memory_order_relaxed);
}
PLAIT_NOINLINE inline void note_start(start_record& spawned) noexcept {
  const auto now = static_cast<std::uintptr_t>(base::now().time_since_epoch().count());
  base::atomic_ref<pool*>(spawned.home).store(reinterpret_cast<pool*>(now << 1 | 1), std::memory_order_relaxed);
}
/// How many nanoseconds have passed since then, or -1 where nobody watched.
inline std::int64_t time_since_start(start_record& spawned) noexcept {
  const auto noted = reinterpret_cast<std::uintptr_t>(home_of(spawned));
  return (noted & 1) == 0 ? -1 : base::now().time_since_epoch().count() - static_cast<std::int64_t>(noted >> 1);
}

// A family in a link, with marks in its lowest bits.
inline constexpr std::uintptr_t link_ended = 1;
inline constexpr std::uintptr_t link_taken = 2;
inline constexpr std::uintptr_t link_busy = 3;  ///< alone: somebody looks at the suspended parent
inline family* marked(family* f, std::uintptr_t mark) noexcept {
  return reinterpret_cast<family*>(reinterpret_cast<std::uintptr_t>(f) | mark);
}
inline family* family_in(family* link) noexcept {
  return reinterpret_cast<family*>(reinterpret_cast<std::uintptr_t>(link) & ~std::uintptr_t{3});
}
inline std::uintptr_t mark_in(family* link) noexcept { return reinterpret_cast<std::uintptr_t>(link) & 3; }

}  // namespace plait::detail
