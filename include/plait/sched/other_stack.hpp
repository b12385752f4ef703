// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/fiber.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/simulator.hpp>
#include <plait/sched/worker.hpp>

#include <cstddef>

// For waits that must not throw and find too little stack to run other tasks on: they go on on another stack.

PLAIT_INTERFACE

namespace plait::sched {

/// As much as threads usually have, since what runs there is code of the user. Pages that are never used take no
/// memory.
inline constexpr std::size_t other_stack_bytes = std::size_t{8} << 20;

namespace detail {

struct other_stack_call {
  worker& on;
  function_ref<void()> body;
  base::stack_memory stack;
  base::fiber caller{};
  base::fiber callee{stack, &run, this};

  static void run(void* argument) {
    auto& self = *static_cast<other_stack_call*>(argument);
    base::set_thread_worker(&self.on);
    {
      auto* here = static_cast<char*>(__builtin_frame_address(0));
      const worker::other_stack_scope scope(self.on, self.stack.floor(), here);
      self.body();
    }
    self.callee.switch_to(self.caller, true);
  }
};

}  // namespace detail

/// Calls body(), which must not throw, on a stack of its own in the calling thread, which is this worker. False, and
/// nothing was called, if the system gives no memory, or threads are simulated, whose stacks belong to the simulator.
PLAIT_NOINLINE inline bool on_another_stack(worker& w, function_ref<void()> body) noexcept {
  if (base::this_simulator() != nullptr) return false;
  try {
    detail::other_stack_call call{w, body, base::stack_memory(other_stack_bytes)};
    call.caller.switch_to(call.callee);
  } catch (const error&) {  // no memory
    return false;
  }
  return true;
}

}  // namespace plait::sched
