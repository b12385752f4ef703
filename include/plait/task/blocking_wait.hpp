// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/thread_signal.hpp>
#include <plait/sched/other_stack.hpp>
#include <plait/task/observers.hpp>

// Waiting for a cell with the thread: a worker helps, any other thread sleeps.

PLAIT_INTERFACE

namespace plait::detail {

/// A thread that waits for a cell. Lies on its stack.
struct thread_waiter : waiter {
  explicit thread_waiter(worker* w) noexcept : helper(w) {
    notify = [](waiter* x) noexcept -> waiter* {
      auto& self = *static_cast<thread_waiter*>(x);
      if (self.helper == nullptr) {
        self.signal.set();
        return nullptr;
      }
      self.helper->home().signal_worker(*self.helper, self.signal);
      return nullptr;
    };
  }
  worker* helper;
  base::thread_signal signal;
};

/// Throws if the stack is too deep for a wait to run other tasks on top of it.
inline void check_help_depth(const worker& w) {
  if (!w.may_help()) {
    throw error(
        "plait: a blocking wait inside a task found too little stack to run other tasks on: make the function a "
        "coroutine "
        "and co_await the future instead of get() or wait()");
  }
}

/// Throws if the wait could never end: the task, whose unit is `of` if it has one, waits for the caller.
inline void check_order(const cell_base& cell, const sched::unit* of, const worker* w) {
  if (is_completing_here(cell)) {
    throw error(
        "plait: a done callback waited for its own task, or dropped the last future of it, which ends only after the "
        "callback: use result() or exception(), and keep the future elsewhere");
  }
  if (w == nullptr || of == nullptr) return;
  if (w->current == of || w->is_buried(of)) {
    throw error(
        "plait: a blocking wait for a task that lies below on the same thread's stack, where it waits itself: neither "
        "could go on; co_await the future instead of get() or wait(), or of dropping it");
  }
}

/// Blocks until the cell is done. A worker runs the awaited task itself if it has not started, then other tasks.
/// of: the unit of the awaited task, or null.
inline void wait_blocking(cell_base& cell, const sched::unit* of) {
  if (cell.done()) return;
  auto* w = worker::of_this_thread();
  check_order(cell, of, w);
  thread_waiter x(w);
  if (w == nullptr) {
    if (add_waiter(cell, &x)) x.signal.wait();
    return;
  }
  check_help_depth(*w);
  if (cell.kind != origin::fork) {
    const worker::stack_scope scope(*w, worker::loop::waiting);
    if (cell.functions->control(&cell, request::run) && cell.done()) return;
  }
  if (!add_waiter(cell, &x)) return;
  w->home().help(*w, [&x] { return x.signal.is_set(); });
}

/// The same in a destructor, which must not throw: where too little stack is left, it helps on another one. A wait that
/// could never end ends the program with the text of the error.
PLAIT_NOINLINE inline void wait_in_destructor(cell_base& cell, const sched::unit* of) noexcept {
  if (cell.done()) return;
  auto* w = worker::of_this_thread();
  check_order(cell, of, w);
  thread_waiter x(w);
  if (!add_waiter(cell, &x)) return;
  if (w == nullptr) return x.signal.wait();
  const auto help = [&x, w] { w->home().help(*w, [&x] { return x.signal.is_set(); }); };
  if (w->may_help() || !sched::on_another_stack(*w, help)) help();
}

/// Blocks until the cell is done or the deadline has passed; says whether it is done. A worker helps meanwhile, and may
/// return later than asked when a task that it runs takes longer.
inline bool wait_blocking_until(cell_base& cell, const sched::unit* of,
                                std::chrono::steady_clock::time_point deadline) {
  if (cell.done()) return true;
  auto* w = worker::of_this_thread();
  check_order(cell, of, w);
  if (w != nullptr) {
    check_help_depth(*w);
    if (cell.kind != origin::fork && base::now() < deadline) {
      const worker::stack_scope scope(*w, worker::loop::waiting);
      if (cell.functions->control(&cell, request::run) && cell.done()) return true;
    }
  }
  thread_waiter x(w);
  auto* block = observe(cell);
  if (block == nullptr || !block->add(&x)) {
    while (!cell.done()) base::give_way();  // its callbacks have run; the completer is about to say so
    return true;
  }
  if (w == nullptr) {
    x.signal.wait_until(deadline);
  } else {
    w->home().help(
        *w, [&x] { return x.signal.is_set(); }, deadline);
  }
  if (x.signal.is_set()) return true;
  if (block->remove(&x)) return false;
  x.signal.wait();  // the completion has it in its hands
  return true;
}

}  // namespace plait::detail
