// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/exchange.hpp>
#include <plait/task/blocking_wait.hpp>
#include <plait/task/held_result.hpp>
#include <plait/task/promise_wait.hpp>
#include <plait/task/stop.hpp>
#include <plait/task/task.hpp>

#include <atomic>
#include <coroutine>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

template <class T>
class future;
template <class T>
class shared_future;

namespace detail {

template <class T>
future<T> make_future(result_cell<T>& cell) noexcept;
/// The future of a forked child whose parent goes on. Ends the child's frame if its result fits in the future.
template <class T>
future<T> make_future_of_fork(task_promise<T>& child) noexcept;
/// The cell that everything about the task can be asked of. Throws plait::error if the future is empty, and
/// std::bad_alloc where a cell has to be made for a result at hand.
template <class T>
result_cell<T>& cell_of(const future<T>& f);
/// The same, but null where the future holds the result: then there is nothing to wait for, to stop or to observe.
template <class T>
result_cell<T>* cell_of_task(const future<T>& f);

/// The unit of a started task, or null.
template <class T>
const sched::unit* unit_of(result_cell<T>& cell) noexcept {
  if (cell.kind >= origin::object) return cell.functions->unit == nullptr ? nullptr : cell.functions->unit(&cell);
  return &static_cast<task_promise<T>&>(cell);
}

/// Requests a stop of a task that has not ended. False if it has, or can't be told.
template <class T>
bool stop_task(result_cell<T>& cell) {
  if (cell.done()) return false;
  if (cell.kind != origin::fork) return cell.functions->control(&cell, request::stop);
  auto& child = static_cast<task_promise<T>&>(cell);
  return stop_running(child, child);
}

/// What future::cancel does to a task that has not ended.
template <class T>
bool cancel_task(result_cell<T>& cell) {
  if (cell.kind != origin::fork && cell.functions->control(&cell, request::cancel)) return true;
  stop_task(cell);
  return false;
}

/// Where a fork's future is dropped before the end of its task.
template <class T>
PLAIT_NOINLINE void stop_and_wait(result_cell<T>& cell) noexcept {
  try {
    stop_task(cell);
  } catch (...) {  // no memory: it ends by itself
  }
  wait_in_destructor(cell, unit_of(cell));
}

/// The end of a future's hold on its cell.
template <class T>
void drop(result_cell<T>& cell) noexcept {
  if (cell.kind == origin::fork) {
    if (!cell.done()) stop_and_wait(cell);
    frame_of(cell).destroy();
  } else {
    cell.drop_owner();
  }
}

/// Ends the hold on a done cell when the scope that took the result ends.
template <class T>
struct drop_guard {
  result_cell<T>* cell;
  PLAIT_ALWAYS_INLINE ~drop_guard() {
    if (cell->kind == origin::fork) {
      frame_of(*cell).destroy();
    } else {
      cell->drop_owner();
    }
  }
};

[[noreturn]] PLAIT_NOINLINE inline void refuse_empty_future() {
  throw error("plait: a future was used that refers to no task: it was moved from, or its result was taken");
}

/// Suspends until the future's task has ended; leaves its result there.
template <class T>
class end_awaiter {
 public:
  using resumes_in_pool = void;
  /// Null: there is nothing to wait for.
  explicit end_awaiter(result_cell<T>* cell) noexcept : cell_(cell) {}
  bool await_ready() const noexcept { return cell_ == nullptr || cell_->done(); }
  bool await_suspend(std::coroutine_handle<> h) {
    prepare(waiter_, worker::of_this_thread(), h);
    return add_awaiting_task(*cell_, waiter_);
  }
  void await_resume() const {
    if (!await_ready()) [[unlikely]]
      refuse_interrupted_await();
  }

 private:
  result_cell<T>* cell_;
  waiter waiter_;
};
template <class T>
end_awaiter<T> end_of(const future<T>& f) {
  return end_awaiter<T>(cell_of_task(f));
}

template <class T>
class future_awaiter {
 public:
  using resumes_in_pool = void;
  explicit future_awaiter(held_result<T> of) noexcept : of_(std::move(of)) {}

  PLAIT_ALWAYS_INLINE bool await_ready() const noexcept { return of_.has_result() || of_.cell().done(); }

  bool await_suspend(std::coroutine_handle<> h) {
    prepare(waiter_, worker::of_this_thread(), h);
    return add_awaiting_task(of_.cell(), waiter_);
  }

  PLAIT_ALWAYS_INLINE T await_resume() const {
    if (of_.has_result()) return of_.result();
    auto* cell = &of_.cell();
    const drop_guard<T> guard{cell};
    if (cell->kind != origin::fork && !cell->done()) [[unlikely]]
      refuse_interrupted_await();
    return cell->take();
  }

 private:
  held_result<T> of_;
  waiter waiter_;
};

}  // namespace detail

/// A handle to a task that has been started. Move-only; one thread at a time uses it. Taking the result (`co_await`,
/// `get`) ends it. A future of a fork is structured: where it is destroyed, or assigned over, before the task has
/// ended, it asks the task to stop and waits for it. Any other dropped future detaches its task, whose exception then
/// goes to the unobserved handler.
template <class T = void>
class [[nodiscard("a dropped future detaches its task, or waits for it if it was forked; its result is lost")]] future {
 public:
  using value_type = T;

  future() noexcept = default;
  future(future && other) noexcept : held_(std::move(other.held_)) {}
  future& operator=(future&& other) noexcept {
    auto taken = std::move(other.held_);
    const auto before = base::exchange(held_, std::move(taken));  // nothing, where both are the same
    if (before.has_cell()) detail::drop(before.cell());
    return *this;
  }
  ~future() {
    if (held_.has_cell()) detail::drop(held_.cell());
  }

  /// Whether it refers to a task: it was not moved from and its result was not taken.
  bool valid() const noexcept { return !held_.empty(); }

  /// Suspends the awaiting task until the result is there and moves it out; rethrows the task's exception.
  detail::future_awaiter<T> operator co_await() { return detail::future_awaiter<T>(release()); }

  /// Blocks until the result is there and moves it out; rethrows the task's exception. On a worker it runs other tasks
  /// meanwhile, and throws plait::error where the stack is too deep for that. Elsewhere the thread sleeps.
  T get() {
    wait();
    const auto held = release();
    if (held.has_result()) return held.result();
    const detail::drop_guard<T> guard{&held.cell()};
    return guard.cell->take();
  }

  /// get() with a time limit. Throws timeout_error if it passes; the future stays valid then.
  template <class Rep, class Period>
  T get_for(std::chrono::duration<Rep, Period> at_most) {
    if (!wait_for(at_most)) throw timeout_error();
    return get();
  }

  /// Blocks until the task has ended. Never throws its exception.
  void wait() const {
    if (!held_.has_result()) detail::wait_blocking(cell(), detail::unit_of(cell()));
  }

  /// Blocks until the task has ended or the time has passed; says whether it has ended. A worker runs other tasks
  /// meanwhile and returns later than asked if one of them takes longer.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> at_most) const {
    return held_.has_result() ||
           detail::wait_blocking_until(cell(), detail::unit_of(cell()), base::deadline_in(at_most));
  }

  /// Whether the task has ended, by a result, an exception, or cancellation.
  bool done() const { return held_.has_result() || cell().done() || detail::is_completing_here(cell()); }

  /// Asks for the end of the task. One that has not started never will: its future is done then, with cancelled_error,
  /// callbacks have run in this thread, and the result is true. One that runs sees it by its stop token, also those
  /// that it has forked; where it is suspended at a timer or sync object it goes on with cancelled_error; the result is
  /// false. False too if it has ended. One that has left for another rank is asked there: the result is false also if
  /// it then never starts, and its future ends with cancelled_error. Throws std::bad_alloc.
  bool cancel() { return !done() && detail::cancel_task(cell()); }

  /// Whether the task ended by cancellation: it never ran, or it ended by a cancelled_error. Never waits.
  bool cancelled() const {
    if (!has_failed()) return false;
    if (cell().stop_requested()) cell().note_seen();
    return detail::is_cancellation(cell().error);
  }

  /// Whether the task has started and not ended. A submitted task that has left this rank counts as started; of a
  /// promise: whether it is being set.
  bool running() const {
    if (done()) return false;
    auto& c = cell();
    // relaxed: a hint, stale at once
    return c.kind == detail::origin::fork || (c.state.load(std::memory_order_relaxed) & detail::state_claimed) != 0;
  }

  /// The task's exception, or null if it has a result. Blocks until the task has ended.
  std::exception_ptr exception() const {
    if (!done()) wait();
    if (!has_failed()) return nullptr;
    cell().note_seen();
    return cell().error;
  }

  /// The result, left in the future; rethrows the task's exception. Blocks until the task has ended.
  std::add_lvalue_reference_t<const T> result() const {
    if (!done()) wait();
    if constexpr (std::is_void_v<T>) {
      cell().look();
    } else if constexpr (std::is_lvalue_reference_v<T>) {
      return *cell().look();
    } else {
      return cell().look();
    }
  }

  /// Calls `fn(const future<T>&)` once when the task has ended: in the thread that ends it and before others see that
  /// it has, or here and now if it has ended already. To `fn` the future that it gets is done, also when this one was
  /// dropped. It counts as work of the task. What it throws goes to the unobserved handler.
  template <class F>
    requires std::is_invocable_v < F&, const future<T>
  & > void add_done_callback(F fn) const;

  /// Makes it a handle for many readers; this one is empty then. Needs plait/task/shared_future.hpp.
  shared_future<T> share();

 private:
  friend future detail::make_future<T>(detail::result_cell<T>&) noexcept;
  friend future detail::make_future_of_fork<T>(detail::task_promise<T>&) noexcept;
  friend detail::result_cell<T>& detail::cell_of<T>(const future&);
  friend detail::result_cell<T>* detail::cell_of_task<T>(const future&);
  explicit future(detail::held_result<T> held) noexcept : held_(std::move(held)) {}

  /// See cell_of.
  detail::result_cell<T>& cell() const {
    if (!held_.has_cell()) [[unlikely]]
      make_cell();
    return held_.cell();
  }
  PLAIT_NOINLINE void make_cell() const {
    if (held_.empty()) detail::refuse_empty_future();
    held_.move_to_cell();
  }
  detail::held_result<T> release() {
    if (held_.empty()) [[unlikely]]
      detail::refuse_empty_future();
    return std::move(held_);
  }
  /// Whether the task has ended, by an exception.
  bool has_failed() const { return !held_.has_result() && done() && cell().ended == detail::outcome::error; }

  mutable detail::held_result<T> held_;
};

namespace detail {

template <class T>
future<T> make_future(result_cell<T>& cell) noexcept {
  return future<T>(held_result<T>(cell));
}
template <class T>
PLAIT_ALWAYS_INLINE future<T> make_future_of_fork(task_promise<T>& child) noexcept {
  if constexpr (is_small_result<T>) {
    if (child.done() && child.ended == outcome::value) [[likely]] {
      held_result<T> held(child.value);
      frame_of(child).destroy();
      return future<T>(std::move(held));
    }
  }
  return make_future<T>(child);
}
template <class T>
result_cell<T>& cell_of(const future<T>& f) {
  return f.cell();
}
template <class T>
result_cell<T>* cell_of_task(const future<T>& f) {
  return f.held_.has_result() ? nullptr : &f.cell();
}

template <class T, class F>
struct done_callback final : callback {
  explicit done_callback(F f) : fn(std::move(f)) {}
  void call(cell_base& cell) noexcept override {
    // A future that holds nothing: the cell belongs to others.
    union view {
      future<T> f;
      explicit view(future<T> handle) noexcept : f(std::move(handle)) {}
      ~view() {}
    };
    const view handle(make_future(static_cast<result_cell<T>&>(cell)));
    call(handle.f);
  }
  void call(const future<T>& f) noexcept {
    try {
      fn(f);
    } catch (...) {
      report_unobserved(std::current_exception(), "a done callback");
    }
  }
  F fn;
};

template <class X>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;

}  // namespace detail

template <class T>
template <class F>
  requires std::is_invocable_v < F&, const future<T>
& > void future<T>::add_done_callback(F fn) const {
  if (held_.has_result()) return detail::done_callback<T, F>(std::move(fn)).call(*this);
  auto& c = cell();
  auto* block = detail::observe(c);
  if (block != nullptr) {
    detail::callback* made = new detail::done_callback<T, F>(std::move(fn));
    if (block->add(made)) return;
    while (!done()) base::give_way();  // the other callbacks have run; the completer is about to say so
    made->call(c);
    delete made;
    return;
  }
  while (!done()) base::give_way();  // the completer is about to say so
  detail::done_callback<T, F>(std::move(fn)).call(c);
}

}  // namespace plait
