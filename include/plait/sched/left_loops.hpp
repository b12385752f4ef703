// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/fiber.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/simulator.hpp>
#include <plait/sched/other_stack.hpp>
#include <plait/sched/worker.hpp>

#include <cstddef>
#include <new>

// What may not run on top of a task that waits, because it could wait for that task in the same way, runs on a stack
// beside it. A worker whose loop inside a blocking wait finds nothing else leaves the stack as it is and starts another
// loop on a new one, where nobody waits. It comes back when the wait is over, between two jobs. So each of several
// tasks that wait on stacks of their own goes on when its time has come, in any order.

PLAIT_INTERFACE

namespace plait::sched {

/// A loop whose stack its worker's thread has left. Lies on that stack.
struct left_loop {
  left_loop(function_ref<bool()> is_over, std::chrono::steady_clock::time_point last) noexcept
      : ended(is_over), deadline(last) {}
  function_ref<bool()> ended;  ///< whether its wait is over
  std::chrono::steady_clock::time_point deadline;
  worker::stack_state state{};
  base::fiber place{};
  left_loop* next = nullptr;
};

/// Works until ready_loop gives a loop.
using loop_body = void (*)(void* argument, worker& w) noexcept;

/// A stack for a loop of a worker.
struct loop_stack {
  worker& on;
  loop_body loop;
  void* argument;
  base::stack_memory memory{other_stack_bytes};
  base::fiber code{memory, &run, this};
  loop_stack* next = nullptr;

  static void run(void* argument);
};

/// A loop of the worker's that was left and whose wait is over, or null.
inline left_loop* ready_loop(const worker& w) noexcept {
  auto* l = w.left;
  while (l != nullptr && !l->ended()) l = l->next;
  return l;
}

/// When the first of these waits and a loop with this deadline must go on at the latest.
inline std::chrono::steady_clock::time_point first_deadline(const worker& w,
                                                            std::chrono::steady_clock::time_point own) noexcept {
  for (auto* l = w.left; l != nullptr; l = l->next) {
    if (l->deadline < own) own = l->deadline;
  }
  return own;
}

/// Whether the worker may start another loop on a new stack. Where threads are simulated, their stacks belong to the
/// simulator. Systems limit the number of mappings of a process, of which a stack takes two.
inline bool may_open_loop(const worker& w) noexcept {
  constexpr unsigned most = 10'000;
  return w.loop_stacks < most && base::this_simulator() == nullptr;
}

namespace detail {

inline void unlink(worker& w, left_loop& which) noexcept {
  auto** at = &w.left;
  while (*at != &which) at = &(*at)->next;
  *at = which.next;
}

/// Ends the stacks that are not used any more, but for so many.
inline void end_stacks_but(worker& w, unsigned kept) noexcept {
  auto** at = &w.spare_stacks;
  for (; *at != nullptr && kept > 0; --kept) at = &(*at)->next;
  while (*at != nullptr) {
    auto* s = base::exchange(*at, (*at)->next);
    delete s;
    --w.loop_stacks;
  }
}

inline loop_stack* new_stack(worker& w, loop_body loop, void* argument) noexcept {
  if (auto* spare = w.spare_stacks) {
    w.spare_stacks = spare->next;
    spare->memory.make_empty();
    spare->code.~fiber();
    ::new (&spare->code) base::fiber(spare->memory, &loop_stack::run, spare);
    return spare;
  }
  try {
    auto* made = new loop_stack{w, loop, argument};
    ++w.loop_stacks;
    return made;
  } catch (const std::exception&) {  // no memory
    return nullptr;
  }
}

}  // namespace detail

/// Goes on in `next`, which is ready, until `own` is.
PLAIT_NOINLINE inline void leave_for(worker& w, left_loop& own, left_loop& next) noexcept {
  detail::unlink(w, next);
  own.next = base::exchange(w.left, &own);
  own.state = w.exchange_stack(next.state);
  own.place.switch_to(next.place);
  detail::end_stacks_but(w, 1);
}

/// Leaves the stack for loop(argument, w) on another one until `own` is ready. False if the system gives no memory.
PLAIT_NOINLINE inline bool leave_for_new(worker& w, left_loop& own, loop_body loop, void* argument) noexcept {
  auto* s = detail::new_stack(w, loop, argument);
  if (s == nullptr) return false;
  own.next = base::exchange(w.left, &own);
  own.state = w.exchange_stack({});
  own.place.switch_to(s->code);
  detail::end_stacks_but(w, 1);
  return true;
}

/// The worker is at its end.
inline void end_spare_stacks(worker& w) noexcept { detail::end_stacks_but(w, 0); }

inline void loop_stack::run(void* argument) {
  auto& self = *static_cast<loop_stack*>(argument);
  auto& w = self.on;
  base::set_thread_worker(&w);
  {
    auto* floor = self.memory.floor();
    const worker::other_stack_scope scope(w, floor, floor + self.memory.size() / 2);
    self.loop(self.argument, w);
  }
  auto& next = *ready_loop(w);
  detail::unlink(w, next);
  w.exchange_stack(next.state);
  self.next = base::exchange(w.spare_stacks, &self);
  self.code.switch_to(next.place, true);
}

}  // namespace plait::sched
