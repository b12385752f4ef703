// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/frame_pool.hpp>
#include <plait/base/symbol.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/unobserved.hpp>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

// What a task's coroutine frame holds beside its locals, and what happens at the end of a task.

namespace plait {

template <class T>
class task;

namespace detail {

using sched::family;
using sched::unit;

/// The part of a frame that says where control goes at the end of the task. As a job it is, for a fork, the parent's
/// continuation, and for a spawned task the task itself.
struct start_record : sched::job {
  start_record() noexcept {}  // most tasks are calls

  std::coroutine_handle<> continuation;  ///< call: the caller; fork: the parent; spawn: the task itself
  // Forks and spawned tasks only; not initialised for calls.
  pool* home;  ///< spawned tasks: where it was queued
  unit self;
  /// Forks: how child and parent tell each other that they run side by side. 0 at first. Who takes the parent's
  /// continuation from the deque puts the parent's family there; the child at its end puts `link_ended` and its own
  /// family, if it has one. The second of the two, who finds the first's word, does the accounting.
  std::atomic<std::uintptr_t> link;
};

inline constexpr std::uintptr_t link_ended = 1;
inline constexpr std::uintptr_t link_taken = 2;
inline family* family_in(std::uintptr_t link) noexcept { return reinterpret_cast<family*>(link & ~std::uintptr_t{3}); }

inline void resume_joiner(waiter* joiner) noexcept {
  if (joiner != nullptr) [[unlikely]]
    resume_later(joiner);
}

/// What a queue executes to go on with the parent of a forked child that has not ended.
inline void resume_parent(sched::job* j, worker& w) noexcept {
  auto& child = *static_cast<start_record*>(j);
  const auto parent = child.continuation;
  auto* as = child.as;
  // acquire in both: the child's family; partner: end_fork
  auto before = child.link.load(std::memory_order_acquire);
  if (before != link_ended) {
    auto& children = as->make_children();  // the parent is suspended, so its unit is ours
    children.add_child();
    before = child.link.exchange(reinterpret_cast<std::uintptr_t>(&children) | link_taken, std::memory_order_acq_rel);
    if (before != 0) unit::ended(family_in(before), &children);  // the parent does not wait for children now
  }
  w.enter(as);
  w.resume(parent);
}

/// The end of a forked child whose continuation somebody took, or may be taking.
PLAIT_NOINLINE inline std::coroutine_handle<> end_fork(cell_base& cell, start_record& record, worker* w) noexcept {
  seal(cell);  // callbacks may start children
  auto* own = record.self.children;
  // acq_rel: our family, and the parent's; partner: resume_parent
  const auto before =
      record.link.exchange(reinterpret_cast<std::uintptr_t>(own) | link_ended, std::memory_order_acq_rel);
  bool last = false;
  auto* next = complete(cell, 0, last);  // the frame may be gone now
  if (before != 0) resume_joiner(unit::ended(own, family_in(before)));
  return resume_next(next, w);
}

/// Ends the memory of a task whose unit this is a copy of: what destructors start then counts as its children too.
template <class End>
void end_as(worker* w, unit& ended, End end) noexcept {
  if (w == nullptr) return end();
  auto* const before = std::exchange(w->current, &ended);
  end();
  w->current = before;
}

/// The end of a spawned task.
template <class Handle>
PLAIT_NOINLINE std::coroutine_handle<> end_spawned(Handle self, worker* w) noexcept {
  auto& promise = self.promise();
  unit ended = promise.self;
  bool last = false;
  auto* next = complete(promise, state_owner, last, [&] { ended = promise.self; });  // callbacks may start children
  if (last) end_as(w, ended, [self] { self.destroy(); });
  resume_joiner(unit::ended(ended.children, ended.parent));
  return resume_next(next, w);
}

struct final_awaiter {
  bool await_ready() const noexcept { return false; }

  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
    auto& p = self.promise();
    auto* w = worker::of_this_thread();
    if (p.kind == origin::call) return worker::transfer(w, p.continuation);
    if (p.kind == origin::fork) {
      if (w != nullptr && w->own.pop_if(&p)) [[likely]] {
        // The continuation was not taken: the parent is there, suspended, and nobody else can know the cell, see
        // result_cell.hpp.
        if (w->may_run(p)) [[likely]] {
          p.state.store(state_done, std::memory_order_relaxed);
          if (p.self.children != nullptr) [[unlikely]]
            adopt(p);
          w->current = p.as;
          return worker::transfer(w, p.continuation);
        }
        w->home().put_aside(*w, &p);
      }
      return end_fork(p, p, w);
    }
    return end_spawned(self, w);
  }

  void await_resume() const noexcept {}

 private:
  /// The child has ended, what it spawned may not have.
  static void adopt(start_record& child) noexcept {
    auto& children = child.as->make_children();
    children.add_child();
    unit::ended(child.self.children, &children);
  }
};

template <class T>
struct promise_base : result_cell<T>, start_record {
  static void* operator new(std::size_t size) { return base::allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { base::release_frame(frame, size); }

  ~promise_base() {
    if (this->ended == outcome::error && !this->seen && this->kind != origin::call) [[unlikely]]
      report();
    if ((this->state.load(std::memory_order_relaxed) & state_observed) != 0) [[unlikely]]  // last owner
      end_observers(*this);
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { this->set_error(std::current_exception()); }

 private:
  PLAIT_NOINLINE void report() noexcept;
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

template <class T>
void promise_base<T>::report() noexcept {
  // The frame's second word is its destroy function, with both compilers; it carries the coroutine's name.
  void* const* frame = static_cast<void* const*>(frame_of<T>(*this).address());
  std::string name = "a task";
  try {
    name = base::function_at(frame[1], "a task");
  } catch (...) {  // out of memory: without the name
  }
  report_unobserved(std::move(this->error), name);
}

}  // namespace detail
}  // namespace plait
