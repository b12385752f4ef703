// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/sched/suspended_list.hpp>
#include <plait/task/observers.hpp>

// How a task waits for a cell that a promise fills in. Nothing says that this ever happens, so the end of the task's
// pool takes it away from there.

PLAIT_INTERFACE

namespace plait::detail {

/// Stands for the waiting task among the observers of the cell. On the heap: futures of tasks need none of it.
class promise_wait final : waiter, sched::suspended_list::node {
 public:
  /// False if the cell is done. Throws std::bad_alloc.
  static bool add(cell_base& cell, waiter& task) {
    auto* w = worker::of_this_thread();
    if (w == nullptr) return add_waiter(cell, &task);
    auto* block = observe(cell);
    if (block != nullptr) {
      auto* self = new promise_wait(*block, task);
      w->suspended.add(*self);
      if (block->add(self)) return true;  // from here on the task may go on
      sched::suspended_list::remove(*self);
      delete self;
    }
    while (!cell.done()) base::give_way();  // its callbacks have run; who completes it is about to say so
    return false;
  }

 private:
  promise_wait(observer_block& block, waiter& task) noexcept : block_(block), task_(task) {
    notify = [](waiter* x) noexcept -> waiter* {
      auto* self = static_cast<promise_wait*>(x);
      auto& task_waiter = self->task_;
      sched::suspended_list::remove(*self);
      delete self;
      return &task_waiter;
    };
  }

  waiter* interrupt() noexcept override {
    if (!block_.remove(this)) return nullptr;  // not there yet, or the completion has it
    auto& task = task_;
    sched::suspended_list::remove_interrupted(*this);
    delete this;
    return &task;
  }

  observer_block& block_;
  waiter& task_;
};

/// Lets `task` be resumed when the cell is done. False if it is done already.
PLAIT_NOINLINE inline bool add_awaiting_task(cell_base& cell, waiter& task) {
  return cell.kind == origin::promise ? promise_wait::add(cell, task) : add_waiter(cell, &task);
}

}  // namespace plait::detail
