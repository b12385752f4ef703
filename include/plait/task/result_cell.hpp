// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/sched/job.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

// The result of a started task, and the word that says how far the task is.
//
// The state word, 64 bits:
//   bit 0   done       value or exception are there; never cleared
//   bit 1   claimed    somebody executes the queued task, or has cancelled it
//   bit 2   observed   the address is that of an observer block, else of a single waiter (or null)
//   bit 3   sealed     callbacks have run, done follows
//   4..53   address
//   bit 54  stopped    somebody has requested a stop; never cleared
//   bit 55  held       who requests a stop keeps the task from ending meanwhile
//   56..63  owners     of spawned and submitted tasks: the future, and the queue's or the run's hold
//
//   from                  event                                to
//   -                     fork                                 0
//   -                     spawn, submit                        2 owners
//   unclaimed             popped, or awaited by a helper       + claimed; who fails to set it drops its hold
//   no address            first await or blocking wait         + address of its waiter
//   single waiter         second observer, callback, time-out  + observed, address of a block with both
//   not done, not held    request to stop                      + held; afterwards - held, + stopped
//   not done, not held    end of the task                      + done; spawned: - 1 owner; waiters are resumed
//   no block              slow end of a fork                   + sealed; nobody can be added
//   done, not done        future dropped                       - 1 owner; at 0 the cell ends
// A fork whose continuation nobody took ends by a plain store of `done`: the parent has not run, so no other thread and
// no waiter can know the cell.

PLAIT_INTERFACE

namespace plait::detail {

inline constexpr std::uint64_t state_done = 1;
inline constexpr std::uint64_t state_claimed = 2;
inline constexpr std::uint64_t state_observed = 4;
inline constexpr std::uint64_t state_sealed = 8;
inline constexpr std::uint64_t state_stopped = std::uint64_t{1} << 54;
inline constexpr std::uint64_t state_held = std::uint64_t{1} << 55;
inline constexpr std::uint64_t state_owner = std::uint64_t{1} << 56;
inline constexpr std::uint64_t state_address = (state_stopped - 1) & ~std::uint64_t{15};

static_assert(sizeof(void*) == 8, "plait: the state word holds an address of up to 54 bits beside its flags");

/// How the task came to be; it decides who ends the cell.
enum class origin : std::uint8_t { call, fork, spawn, object, promise };
enum class outcome : std::uint8_t { none, value, error };

class observer_block;

/// What can be asked of a started task by those who hold its cell.
enum class request : std::uint8_t {
  run,     ///< here and now, if it is still unclaimed
  cancel,  ///< end it, if it is still unclaimed
  stop,    ///< tell it
};

struct cell_base;

/// What is done to a cell by its kind. Forks have none of it.
struct cell_functions {
  /// Ends the cell.
  void (*destroy)(cell_base*) noexcept;
  /// Does something to the task. False: it could not be done.
  bool (*control)(cell_base*, request) noexcept;
  /// The unit of an object's task, where it has one in this process.
  const sched::unit* (*unit)(const cell_base*) noexcept = nullptr;
};
/// Of a cell without a task of this process that could be asked for anything.
inline bool refuse_all(cell_base*, request) noexcept { return false; }

/// What a task's result has whatever its type.
struct cell_base {
  base::atomic<std::uint64_t> state{0};
  origin kind = origin::call;
  outcome ended = outcome::none;
  bool seen = false;                ///< the exception has reached somebody
  bool has_name = false;            ///< it is part of a frame that has a name of its own: see named.hpp
  const cell_functions* functions;  ///< set by who makes it no fork

  cell_base() noexcept = default;
  cell_base(const cell_base&) = delete;
  cell_base& operator=(const cell_base&) = delete;

  bool stop_requested() const noexcept {
    return (state.load(std::memory_order_relaxed) & state_stopped) != 0;  // a flag
  }
  /// The exception has reached somebody. Several readers of a shared_future may say so at once.
  void note_seen() noexcept { base::atomic_ref<bool>(seen).store(true, std::memory_order_relaxed); }  // read at the end
  bool done() const noexcept {
    return (state.load(std::memory_order_acquire) & state_done) != 0;  // partner: the completion
  }
  /// Whether the hold of the queue, or of the run, is the only one, and nobody observes: the future has been dropped.
  /// It stays so, since who wants a hold needs one.
  bool is_alone() const noexcept {
    return (state.load(std::memory_order_acquire) & ~state_claimed) == state_owner;  // partner: drop_owner
  }
  /// True for the one caller that may execute, or cancel, the queued task.
  bool claim() noexcept {
    if (state.load(std::memory_order_acquire) == state_owner) {  // alone and unclaimed; partner: drop_owner
      state.store(state_owner | state_claimed, std::memory_order_relaxed);
      return true;
    }
    // acq_rel: what was written before the task was queued; partner: the release of the queue
    return (state.fetch_or(state_claimed, std::memory_order_acq_rel) & state_claimed) == 0;
  }
  /// Gives up one hold on a spawned or submitted task; the last one ends the cell.
  void drop_owner() noexcept {
    // acquire: a lone owner has nobody to race with, but must see what the others did
    if (state.load(std::memory_order_acquire) / state_owner == 1) return functions->destroy(this);
    // acq_rel: all uses of the cell happen before its end
    if (state.fetch_sub(state_owner, std::memory_order_acq_rel) / state_owner == 1) functions->destroy(this);
  }
};

[[noreturn]] PLAIT_NOINLINE inline void refuse_interrupted_await() {
  throw cancelled_error("plait: the pool ended while the task waited for a promise that nobody had set");
}

/// Whether it is a cancelled_error.
inline bool is_cancellation(const std::exception_ptr& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (const cancelled_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Ends a cell that new has made.
template <class Cell>
void delete_cell(cell_base* c) noexcept {
  delete static_cast<Cell*>(c);
}

struct nothing {};

template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<void> {
  using type = nothing;
};
template <class T>
struct stored<T&> {
  using type = T*;
};
/// What a cell keeps for a result of type T: a pointer for references, nothing much for void.
template <class T>
using stored_t = typename stored<T>::type;

/// A result of type T: any movable type, a reference, or void.
template <class T>
struct result_cell : cell_base {
  static_assert(!std::is_rvalue_reference_v<T>,
                "plait: a task can't give an rvalue reference; return the value itself");
  static_assert(std::is_void_v<T> || std::is_lvalue_reference_v<T> || std::is_move_constructible_v<T>,
                "plait: the result of a task must be movable, a reference, or void");

  union {
    stored_t<T> value;
    std::exception_ptr error;
  };

  result_cell() noexcept {}
  /// Who owns the cell calls clear() first.
  ~result_cell() {}

  /// Ends what the cell holds.
  void clear() noexcept {
    if (ended == outcome::value) {
      destroy_value();
    } else if (ended == outcome::error) {
      error.~exception_ptr();
    }
    ended = outcome::none;
  }
  void destroy_value() noexcept {
    using type = stored_t<T>;
    value.~type();
  }

  /// Whether it ends with an exception that nobody has seen and somebody should. By the last owner.
  bool is_unobserved() const noexcept {
    return ended == outcome::error && !seen && !(stop_requested() && is_cancellation(error));
  }

  template <class... A>
  void set_value(A&&... a) {
    ::new (static_cast<void*>(std::addressof(value))) stored_t<T>(std::forward<A>(a)...);
    ended = outcome::value;
  }
  void set_error(std::exception_ptr e) noexcept {
    if (ended == outcome::value) destroy_value();  // thrown by a destructor after the result was there
    ::new (static_cast<void*>(std::addressof(error))) std::exception_ptr(std::move(e));
    ended = outcome::error;
  }

  /// A stop was requested before the task started.
  void set_cancelled() noexcept {
    state.fetch_or(state_stopped, std::memory_order_relaxed);  // a flag
    set_error(std::make_exception_ptr(cancelled_error()));
  }

  /// The result of a done cell, moved out; throws the task's exception.
  T take() {
    if (ended != outcome::value) [[unlikely]]
      rethrow_taken();
    if constexpr (std::is_lvalue_reference_v<T>) {
      return *value;
    } else if constexpr (!std::is_void_v<T>) {
      return std::move(value);
    }
  }

  /// The result of a done cell, left where it is; throws the task's exception.
  const stored_t<T>& look() {
    if (ended == outcome::error) rethrow();
    return value;
  }

 private:
  [[noreturn]] PLAIT_NOINLINE void rethrow() {
    note_seen();
    std::rethrow_exception(error);
  }
  /// The cell keeps no hold on it: it may end in another thread while the exception is being handled here.
  [[noreturn]] PLAIT_NOINLINE void rethrow_taken() {
    if (ended == outcome::none) refuse_interrupted_await();
    seen = true;
    std::rethrow_exception(base::exchange(error, nullptr));
  }
};

}  // namespace plait::detail
