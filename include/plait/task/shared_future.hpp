// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/task/future.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

template <class T>
class shared_future;

namespace detail {

template <class T>
result_cell<T>& cell_of(const shared_future<T>& f);

/// The future that several handles share, and their number: the cell's own count is too small for that.
template <class T>
struct shared_state {
  explicit shared_state(future<T> f) : inner(std::move(f)) { static_cast<void>(cell_of(inner)); }

  void keep() noexcept { handles.fetch_add(1, std::memory_order_relaxed); }  // by who has one
  void release() noexcept {
    // acq_rel: all uses happen before the end
    if (handles.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  const future<T> inner;  // const, and it has a cell: what many threads may do at once
  base::atomic<std::size_t> handles{1};
};

/// What looking at a result gives: it stays where it is.
template <class T>
using looked_at_t = std::add_lvalue_reference_t<const T>;

template <class T>
T copied_result(const future<T>& f) {
  constexpr bool possible = !std::is_object_v<T> || std::is_copy_constructible_v<T>;
  static_assert(
      possible,
      "plait: a shared_future that ends with the expression gives a copy of the result, and this type can't be "
      "copied: name the shared_future, and use the reference that it gives then");
  if constexpr (possible) return f.result();
}

template <class T>
class shared_awaiter : public end_awaiter<T> {
 public:
  explicit shared_awaiter(const future<T>& f) : end_awaiter<T>(&cell_of(f)), from_(f) {}
  looked_at_t<T> await_resume() const {
    end_awaiter<T>::await_resume();
    return from_.result();
  }

 private:
  const future<T>& from_;
};

}  // namespace detail

/// A future for many readers, made by future::share(). Copies refer to the same task; each is used by one thread at a
/// time, different ones in any threads. Results are looked at, not moved out. The last copy of a structured future
/// waits for the task where it is destroyed, or assigned over; of another one it detaches the task.
template <class T = void>
class [[nodiscard("a dropped shared_future may be the last one of its task")]] shared_future {
 public:
  using value_type = T;

  shared_future() noexcept = default;
  /// Takes the future; the same as f.share().
  shared_future(future<T> && f) : state_(f.valid() ? new detail::shared_state<T>(std::move(f)) : nullptr) {}
  shared_future(const shared_future& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->keep();
  }
  shared_future(shared_future && other) noexcept : state_(base::exchange(other.state_, nullptr)) {}
  shared_future& operator=(shared_future other) noexcept {
    auto* before = base::exchange(state_, base::exchange(other.state_, nullptr));
    if (before != nullptr) before->release();
    return *this;
  }
  ~shared_future() {
    if (state_ != nullptr) state_->release();
  }

  /// Whether it refers to a task.
  bool valid() const noexcept { return state_ != nullptr; }

  /// Suspends the awaiting task until the result is there, and gives a reference to it, which lives as long as some
  /// copy of this; rethrows the task's exception.
  detail::shared_awaiter<T> operator co_await() const& { return detail::shared_awaiter<T>(inner()); }

  class copy_awaiter;
  /// The same for a handle that ends with the expression: gives a copy of the result.
  copy_awaiter operator co_await()&& { return copy_awaiter(std::move(*this)); }

  /// Blocks until the result is there, as future::get does, and gives a reference to it; rethrows the task's exception.
  detail::looked_at_t<T> get() const& { return inner().result(); }
  /// The same for a handle that ends with the expression: gives a copy of the result.
  T get()&& { return detail::copied_result(inner()); }

  /// get() with a time limit. Throws timeout_error if it passes.
  template <class Rep, class Period>
  detail::looked_at_t<T> get_for(std::chrono::duration<Rep, Period> at_most) const& {
    if (!wait_for(at_most)) throw timeout_error();
    return get();
  }

  /// As the same functions of future.
  void wait() const { inner().wait(); }
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> at_most) const {
    return inner().wait_for(at_most);
  }
  bool done() const { return inner().done(); }
  bool running() const { return inner().running(); }
  bool cancelled() const { return inner().cancelled(); }
  std::exception_ptr exception() const { return inner().exception(); }
  detail::looked_at_t<T> result() const& { return inner().result(); }

  /// Calls `fn(const future<T>&)` once when the task has ended, as future::add_done_callback does. What fn gets is the
  /// task's future, which is no handle of its own: a callback does not keep the task.
  template <class F>
    requires std::is_invocable_v < F&, const future<T>
  & > void add_done_callback(F fn) const { inner().add_done_callback(std::move(fn)); }

 private:
  friend detail::result_cell<T>& detail::cell_of<T>(const shared_future&);
  const future<T>& inner() const {
    if (state_ == nullptr) [[unlikely]]
      detail::refuse_empty_future();
    return state_->inner;
  }

  detail::shared_state<T>* state_ = nullptr;
};

/// Awaits a shared_future that it keeps.
template <class T>
class shared_future<T>::copy_awaiter : public detail::end_awaiter<T> {
 public:
  explicit copy_awaiter(shared_future kept)
      : detail::end_awaiter<T>(&detail::cell_of(kept.inner())), kept_(std::move(kept)) {}
  T await_resume() const {
    detail::end_awaiter<T>::await_resume();
    return detail::copied_result(kept_.inner());
  }

 private:
  shared_future kept_;
};

template <class T>
shared_future<T> future<T>::share() {
  static_cast<void>(cell());
  return shared_future<T>(std::move(*this));
}

namespace detail {

template <class T>
result_cell<T>& cell_of(const shared_future<T>& f) {
  return cell_of(f.inner());
}

}  // namespace detail
}  // namespace plait
