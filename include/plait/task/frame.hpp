// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/base/symbol.hpp>
#include <plait/task/foreign.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/start_record.hpp>
#include <plait/task/unobserved.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

// What a task's coroutine frame holds beside its locals, and what happens at the end of a task.

PLAIT_INTERFACE

namespace plait {

template <class T>
class task;

namespace detail {

inline void resume_joiner(waiter* joiner) noexcept {
  if (joiner != nullptr) [[unlikely]]
    resume_later(joiner);
}

/// What a queue executes to go on with the parent of a forked child that has not ended.
inline void resume_parent(sched::job* j, worker& w) noexcept {
  auto& child = *static_cast<start_record*>(j);
  const auto parent = child.continuation;
  auto* as = child.as;
  const auto link = child.link();
  auto* before = link.load(std::memory_order_acquire);  // the child's family; partner: end_fork
  if (before != marked(nullptr, link_ended)) {
    auto& children = as->make_children();  // the parent is suspended, so its unit is ours
    children.add_own_child();
    // release: our family; acquire: the child's, or what who looked at the parent has made; partners: end_fork,
    // stop.hpp
    for (base::backoff turns; mark_in(before) == link_busy ||
                              !link.compare_exchange_weak(before, marked(&children, link_taken),
                                                          std::memory_order_acq_rel, std::memory_order_acquire);) {
      turns.wait();
      before = link.load(std::memory_order_acquire);  // as above
    }
    if (before != nullptr) unit::count_end(family_in(before), &children);  // the parent does not wait for children now
  }
  w.enter(as);
  w.resume(parent);
}

/// The end of a forked child whose continuation somebody took, or may be taking.
PLAIT_NOINLINE inline std::coroutine_handle<> end_fork(cell_base& cell, start_record& record, worker* w) noexcept {
  seal(cell);  // callbacks may start children
  hold_open(cell);
  record.retire();
  auto* own = record.known_children();
  // acq_rel: our family, and the parent's; partner: resume_parent
  auto* const before = record.link().exchange(marked(own, link_ended), std::memory_order_acq_rel);
  auto* next = complete_held(cell);  // the frame may be gone now
  if (before != nullptr) resume_joiner(unit::count_end(own, family_in(before)));
  return resume_next(next, w);
}

/// Ends the memory of a task whose unit this is a copy of: what destructors start then counts as its children too.
template <class End>
void end_as(worker* w, unit& ended, End end) noexcept {
  if (w == nullptr) return end();
  auto* const before = base::exchange(w->current, &ended);
  end();
  w->current = before;
}

template <class T>
struct task_promise;
/// The name that a task has got by `named`, or none. Defined in named_promise.hpp.
template <class T>
std::string_view own_name_of(task_promise<T>& p) noexcept;

/// What a task is called, by its frame: the second word is the coroutine's destroy function, with both compilers, and
/// carries its name.
inline obs::task_name name_of_frame(void* frame, std::string_view own_name) noexcept {
  if (!own_name.empty()) return {nullptr, nullptr, own_name};
  return {static_cast<void* const*>(frame)[1],
          [](const void* function) { return base::function_at(function, "a task"); },
          {}};
}
/// Tells who watches about the beginning and the end of a spawned task.
PLAIT_NOINLINE inline void tell_start(void* frame, start_record& record, std::string_view own_name,
                                      obs::watcher& who) noexcept {
  note_start(record);
  who.task_began(static_cast<unit*>(&record), name_of_frame(frame, own_name), 0);
}
PLAIT_NOINLINE inline void tell_end(void* frame, start_record& record, std::string_view own_name,
                                    obs::watcher& who) noexcept {
  const auto time = time_since_start(record);
  if (time < 0) return;
  who.task_ended(static_cast<unit*>(&record), name_of_frame(frame, own_name), static_cast<std::uint64_t>(time));
}

/// The end of a spawned task.
template <class Handle>
PLAIT_NOINLINE std::coroutine_handle<> end_spawned(Handle self, worker* w) noexcept {
  auto& promise = self.promise();
  if (w != nullptr && w->watched() != nullptr) [[unlikely]]
    tell_end(self.address(), promise, own_name_of(promise), *w->watched());
  unit& self_unit = promise;
  unit ended = self_unit.copy();
  bool last = true;
  waiter* next = nullptr;
  if (promise.is_alone()) [[likely]] {  // detached: nobody waits, and nobody can come
    self_unit.retire();
  } else {
    next = complete(promise, state_owner, last, [&] {
      self_unit.retire();
      ended = self_unit.copy();  // callbacks may have started children
    });
  }
  if (last) end_as(w, ended, [self] { self.destroy(); });
  resume_joiner(unit::count_end(ended.children, ended.parent));
  if (next == nullptr) return std::noop_coroutine();
  return resume_next(next, w);
}

/// Any end of a forked child that takes more than the fast path below.
PLAIT_NOINLINE inline std::coroutine_handle<> end_fork_otherwise(cell_base& cell, start_record& record, worker* w,
                                                                 bool popped) noexcept {
  if (!popped && (w == nullptr || !w->own.pop_if(&record))) return end_fork(cell, record, w);
  if (!w->may_go_on(*record.as)) {
    w->home().put_aside(*w, &record);
    return end_fork(cell, record, w);
  }
  cell.state.store(state_done, std::memory_order_relaxed);  // as below
  if (auto* own = record.known_children()) {                // the child has ended, what it spawned may not have
    record.retire();
    auto& children = record.as->make_children();
    children.add_own_child();
    unit::count_end(own, &children);
  }
  w->current = record.as;
  return worker::transfer(record.continuation);
}

/// The end of a forked child. If its continuation is still in this worker's deque, as its newest job, it goes on with
/// it: the parent is there, suspended, and nobody else can know the cell, see result_cell.hpp. Nothing of the parent
/// may be looked at before the pop has succeeded.
PLAIT_ALWAYS_INLINE std::coroutine_handle<> finish_fork(cell_base& cell, start_record& record) noexcept {
  auto* w = worker::of_this_thread();
  if (w == nullptr || record.known_children() != nullptr || !w->own.pop_if(&record)) [[unlikely]]
    return end_fork_otherwise(cell, record, w, false);
  auto* const parent = record.as;
  if (!w->may_go_on(*parent)) [[unlikely]]
    return end_fork_otherwise(cell, record, w, true);
  cell.state.store(state_done, std::memory_order_relaxed);  // see above
  w->current = parent;
  return worker::transfer(record.continuation);
}

struct final_awaiter {
  bool await_ready() const noexcept { return false; }

  template <class Promise>
  PLAIT_ALWAYS_INLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    auto& p = self.promise();
    if (p.kind == origin::call) return worker::transfer(p.continuation);
    if (p.kind == origin::fork) [[likely]]
      return finish_fork(p, p);
    return end_spawned(self, worker::of_this_thread());
  }

  void await_resume() const noexcept {}
};

template <class T>
struct promise_base : result_cell<T>, start_record, relays_foreign_awaitables, base::in_frame_memory {
  ~promise_base() {
    const bool observed = (this->state.load(std::memory_order_relaxed) & state_observed) != 0;  // last owner
    if (this->ended == outcome::value && !observed) [[likely]] {
      this->destroy_value();
    } else {
      tidy();
    }
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { this->set_error(std::current_exception()); }

 private:
  PLAIT_NOINLINE void tidy() noexcept;
};

template <class T>
struct task_promise : promise_base<T> {
  task<T> get_return_object() noexcept;

  template <class U = T>
    requires std::is_convertible_v<U, T>
  void return_value(U&& result) { this->set_value(std::forward<U>(result)); }
};

template <class T>
struct task_promise<T&> : promise_base<T&> {
  task<T&> get_return_object() noexcept;
  void return_value(T& result) noexcept { this->set_value(&result); }
};

template <>
struct task_promise<void> : promise_base<void> {
  task<void> get_return_object() noexcept;
  void return_void() noexcept { set_value(); }
};

template <class T>
using task_handle = std::coroutine_handle<task_promise<T>>;

[[noreturn]] PLAIT_NOINLINE inline void refuse_empty_task() {
  throw error(
      "plait: a task was started that holds no coroutine: it was moved from, or started before; a task runs once");
}

/// Ends a frame when the scope that took its result ends.
template <class T>
struct frame_guard {
  task_handle<T> frame;
  ~frame_guard() { frame.destroy(); }
};

/// The frame of a cell that is part of one.
template <class T>
task_handle<T> frame_of(result_cell<T>& cell) noexcept {
  return task_handle<T>::from_promise(static_cast<task_promise<T>&>(cell));
}

/// Reports an exception with the name of the coroutine that the frame is of.
PLAIT_NOINLINE inline void report_unobserved_of(void* frame, const std::exception_ptr& e) noexcept {
  try {
    // The frame's second word is its destroy function, with both compilers; it carries the coroutine's name.
    report_unobserved(e, base::function_at(static_cast<void* const*>(frame)[1], "a task"));
  } catch (...) {  // out of memory: without the name
    report_unobserved(e, "a task");
  }
}

template <class T>
void promise_base<T>::tidy() noexcept {
  if (this->kind != origin::call && this->is_unobserved())
    report_unobserved_of(frame_of<T>(*this).address(), this->error);
  end_observers(*this);
  this->clear();
}

}  // namespace detail
}  // namespace plait
