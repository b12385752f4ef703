// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/task/future.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/unobserved.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

[[noreturn]] PLAIT_NOINLINE inline void refuse_second_set() {
  throw error("plait: a promise was set that had a value or an exception already; a promise is set once");
}
[[noreturn]] PLAIT_NOINLINE inline void refuse_empty_promise() {
  throw error("plait: a promise was used that was moved from");
}
[[noreturn]] PLAIT_NOINLINE inline void refuse_second_future() {
  throw error("plait: get_future was called twice on one promise; for several readers call share() on its future");
}
[[noreturn]] PLAIT_NOINLINE inline void refuse_null_exception() {
  throw error("plait: set_exception was called with a null exception_ptr");
}

/// What a promise and its future have in common. Claimed by who sets it.
template <class T>
class promise_cell final : public base::in_frame_memory, public result_cell<T> {
 public:
  promise_cell() noexcept {
    this->kind = origin::promise;
    static constexpr cell_functions own{&delete_cell<promise_cell>, [](cell_base* c, request what) noexcept {
                                          return what == request::cancel && static_cast<promise_cell*>(c)->cancel();
                                        }};
    this->functions = &own;
    this->state.store(state_owner, std::memory_order_relaxed);  // nobody else knows it
  }
  ~promise_cell() {
    if (this->is_unobserved()) report_unobserved(std::move(this->error), "a promise");
    end_observers(*this);
    this->clear();
  }

  /// One more hold, beside that of the caller.
  void keep() noexcept { this->state.fetch_add(state_owner, std::memory_order_relaxed); }  // see drop_owner

  /// Sets it by fill(), if nobody has. What fill throws comes out, and it stays unset.
  template <class Fill>
  void set(Fill fill) {
    keep();  // who gets the result may end the promise while we are here
    if (!this->claim()) {
      this->drop_owner();
      refuse_second_set();
    }
    try {
      fill();
    } catch (...) {
      // release: what fill did to the place of the value; partner: claim
      this->state.fetch_and(~state_claimed, std::memory_order_release);
      this->drop_owner();
      throw;
    }
    finish();
  }

  /// By its future. False if it is set already.
  bool cancel() noexcept {
    keep();
    if (!this->claim()) {
      this->drop_owner();
      return false;
    }
    this->set_cancelled();
    finish();
    return true;
  }

  /// The promise ends; uses its hold up.
  void abandon() noexcept {
    const auto s = this->state.load(std::memory_order_acquire);  // partner: drop_owner, observe
    const bool alone = s / state_owner == 1;
    const bool awaited = !alone || block_of(s) != nullptr;
    if ((s & state_claimed) != 0 || !awaited || !this->claim()) return this->drop_owner();
    try {
      throw error("plait: broken promise: it was destroyed before a value or an exception was set");
    } catch (...) {
      this->set_error(std::current_exception());
    }
    this->seen = alone;
    finish();
  }

  bool has_future = false;

 private:
  /// Makes it done, with one hold less.
  void finish() noexcept {
    bool last = false;
    auto* next = complete(*this, state_owner, last);
    if (last) delete this;
    resume_later(next);
  }
};

}  // namespace detail

/// For results that do not come from a task: its future is done when a value or an exception is set, by any thread.
/// Tasks that await the future go on in their own pools; its callbacks run in the thread that sets. If the promise is
/// destroyed unset, the future gets a plait::error, "broken promise". Move-only.
template <class T = void>
class promise {
 public:
  using value_type = T;

  promise() : cell_(new detail::promise_cell<T>) {}
  promise(promise&& other) noexcept : cell_(base::exchange(other.cell_, nullptr)) {}
  promise& operator=(promise&& other) noexcept {
    if (this != &other) {
      if (cell_ != nullptr) cell_->abandon();
      cell_ = base::exchange(other.cell_, nullptr);
    }
    return *this;
  }
  ~promise() {
    if (cell_ != nullptr) cell_->abandon();
  }

  /// Whether it was not moved from.
  bool valid() const noexcept { return cell_ != nullptr; }

  /// The future that gets the result. Once; throws plait::error after that, or if the promise was moved from.
  future<T> get_future() {
    auto& c = cell();
    if (c.has_future) detail::refuse_second_future();
    c.has_future = true;
    c.keep();
    return detail::make_future<T>(c);
  }

  /// Sets the result; all that observes the future is called or woken before it returns. Any thread; of several at once
  /// one succeeds. Throws plait::error if it is set already, or was moved from. What the constructor of T throws comes
  /// out, and the promise stays unset.
  template <class U = T>
    requires(!std::is_void_v<T> && !std::is_reference_v<T> && std::is_convertible_v<U, T>)
  void set_value(U&& value) {
    auto& c = cell();
    c.set([&] { c.set_value(std::forward<U>(value)); });
  }
  /// The same for promise<T&>.
  template <class U>
    requires(std::is_lvalue_reference_v<T>&& std::is_convertible_v<U*, std::remove_reference_t<T>*>)
  void set_value(U& target) {
    auto& c = cell();
    c.set([&] { c.set_value(&target); });
  }
  /// The same for promise<void>.
  void set_value() requires std::is_void_v<T> {
    auto& c = cell();
    c.set([&] { c.set_value(); });
  }
  /// Sets an exception in place of a result. Throws plait::error as set_value does, and if `e` is null.
  void set_exception(std::exception_ptr e) {
    auto& c = cell();
    if (!e) detail::refuse_null_exception();
    c.set([&] { c.set_error(std::move(e)); });
  }

 private:
  detail::promise_cell<T>& cell() const {
    if (cell_ == nullptr) [[unlikely]]
      detail::refuse_empty_promise();
    return *cell_;
  }

  detail::promise_cell<T>* cell_;
};

}  // namespace plait
