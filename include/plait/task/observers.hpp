// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/mutex.hpp>
#include <plait/base/pause.hpp>
#include <plait/sched/pool.hpp>
#include <plait/task/result_cell.hpp>

#include <atomic>
#include <mutex>
#include <utility>

// Who waits for a cell, and what happens to them when it is done.

PLAIT_INTERFACE

namespace plait::detail {

using sched::waiter;
using sched::worker;

/// A function to call when a cell is done, before others see that it is.
struct callback {
  virtual ~callback() = default;
  virtual void call(cell_base& cell) noexcept = 0;
  callback* next = nullptr;
};

/// The observers of a cell that has more than a single plain waiter, in lists in order of arrival.
class alignas(16) observer_block {
 public:
  observer_block() noexcept = default;
  observer_block(const observer_block&) = delete;
  observer_block& operator=(const observer_block&) = delete;
  ~observer_block() { delete_all(callbacks_); }

  /// The waiter that was in the state word before the block. While the block is not in its place there the completion
  /// may take the waiter and resume it, so it is not touched until the completion comes to the block.
  void adopt(waiter* first) noexcept { first_ = first; }
  /// False if the cell is about to be done: it will be in a moment.
  bool add(waiter* w) noexcept {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    w->next_job = nullptr;
    *waiters_end_ = w;
    waiters_end_ = &w->next_job;
    return true;
  }
  /// For one that was added: false if the completion has taken it already; it will be notified.
  bool remove(waiter* w) noexcept {
    const std::lock_guard lock(mutex_);
    for (auto** at = &waiters_; *at != nullptr; at = &(*at)->next_job) {
      if (*at != w) continue;
      *at = w->next_job;
      if (waiters_end_ == &w->next_job) waiters_end_ = at;
      return true;
    }
    return false;
  }
  /// Takes the callback, or leaves it with the caller and returns false if callbacks have run already.
  bool add(callback* c) noexcept {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    *callbacks_end_ = c;
    callbacks_end_ = &c->next;
    return true;
  }
  /// Runs all callbacks, those that come meanwhile too. By who completes.
  void close(cell_base& cell) noexcept {
    completer_.store(base::thread_identity(), std::memory_order_relaxed);  // see is_completing_here
    for (;;) {
      callback* next = nullptr;
      {
        const std::lock_guard lock(mutex_);
        next = base::exchange(callbacks_, nullptr);
        callbacks_end_ = &callbacks_;
        if (next == nullptr) {
          closed_ = true;
          return;
        }
      }
      for (auto* c = next; c != nullptr; c = c->next) c->call(cell);
      delete_all(next);
    }
  }
  /// After close: all waiters, linked in order of arrival.
  sched::job* take_waiters() noexcept {
    const std::lock_guard lock(mutex_);
    waiters_end_ = &waiters_;
    auto* rest = base::exchange(waiters_, nullptr);
    if (first_ == nullptr) return rest;
    first_->next_job = rest;
    return base::exchange(first_, nullptr);
  }
  /// Whether the calling thread is running the callbacks: to them the cell is done.
  bool is_completing_here() const noexcept {
    return completer_.load(std::memory_order_relaxed) == base::thread_identity();  // only equal in the storing thread
  }

 private:
  static void delete_all(callback* c) noexcept {
    while (c != nullptr) delete base::exchange(c, c->next);
  }

  base::mutex mutex_;
  waiter* first_ = nullptr;
  sched::job* waiters_ = nullptr;
  sched::job** waiters_end_ = &waiters_;
  callback* callbacks_ = nullptr;
  callback** callbacks_end_ = &callbacks_;
  bool closed_ = false;
  base::atomic<const void*> completer_{nullptr};
};

inline waiter* single_waiter(std::uint64_t state) noexcept { return reinterpret_cast<waiter*>(state & state_address); }
inline observer_block* block_of(std::uint64_t state) noexcept {
  return (state & state_observed) != 0 ? reinterpret_cast<observer_block*>(state & state_address) : nullptr;
}
/// Whether the calling thread is running the cell's callbacks.
inline bool is_completing_here(const cell_base& cell) noexcept {
  const auto* block = block_of(cell.state.load(std::memory_order_acquire));  // partner: observe
  return block != nullptr && block->is_completing_here();
}

/// Ends the block, if there is one. Called when the cell ends.
inline void end_observers(cell_base& cell) noexcept {
  delete block_of(cell.state.load(std::memory_order_relaxed));
}  // last owner

/// The cell's observer block, made if there is none, or null if the cell is done, or about to be, and has none.
inline observer_block* observe(cell_base& cell) {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: the exchange below, which publishes the block
  observer_block* fresh = nullptr;
  for (;;) {
    auto* block = block_of(s);
    if (block != nullptr || (s & (state_done | state_sealed)) != 0) {
      delete fresh;
      return block;
    }
    if (fresh == nullptr) fresh = new observer_block;
    fresh->adopt(single_waiter(s));
    const auto next = (s & ~state_address) | state_observed | reinterpret_cast<std::uint64_t>(fresh);
    // release: publishes the block; acquire: for the next turn
    if (cell.state.compare_exchange_strong(s, next, std::memory_order_acq_rel, std::memory_order_acquire)) return fresh;
  }
}

/// Lets `w` be resumed or notified when the cell is done. False if it is done already.
inline bool add_waiter(cell_base& cell, waiter* w) {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: the completion
  while ((s & (state_done | state_sealed | state_address)) == 0) {
    // release: what is in the waiter; acquire on failure: the result
    if (cell.state.compare_exchange_weak(s, s | reinterpret_cast<std::uint64_t>(w), std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return true;
    }
  }
  if ((s & state_done) == 0) {
    auto* block = observe(cell);
    if (block != nullptr && block->add(w)) return true;
  }
  while (!cell.done()) base::give_way();  // its callbacks have run; the completer is about to say so
  return false;
}

/// What a queue executes to resume a waiter.
inline void resume_waiter(sched::job* j, worker& w) noexcept {
  auto& x = *static_cast<waiter*>(j);
  w.enter(x.as);
  w.resume(x.handle);
}

/// Fills in what a suspended coroutine waits with.
inline void prepare(waiter& x, worker* w, std::coroutine_handle<> h) noexcept {
  x.execute = &resume_waiter;
  x.notify = nullptr;
  x.handle = h;
  x.as = w != nullptr ? w->current : nullptr;
  x.home = w != nullptr ? &w->home() : nullptr;
}

/// The waiter to resume once all `notify` functions have had their say, or null.
inline waiter* notified(waiter* x) noexcept {
  while (x != nullptr && x->notify != nullptr) x = x->notify(x);
  return x;
}

/// Tells who watches this worker.
inline void tell_wake(const waiter& x) noexcept {
  const auto* w = worker::of_this_thread();
  if (w == nullptr) return;
  if (auto* by = w->watched()) [[unlikely]]
    by->woke(x.as);
}

/// Resumes a waiter from a queue of its pool. One that waits in no pool is resumed here and now.
inline void resume_later(waiter* x) noexcept {
  x = notified(x);
  if (x == nullptr) return;
  tell_wake(*x);
  if (x->home != nullptr) {
    x->home->post(x);
  } else if (auto* w = worker::of_this_thread()) {
    w->resume_foreign(x->handle);
  } else {
    x->handle.resume();
  }
}

/// What await_suspend of an ended task returns to go on with `x` (null: with whatever the worker finds).
inline std::coroutine_handle<> resume_next(waiter* x, worker* w) noexcept {
  x = notified(x);
  if (x == nullptr) return std::noop_coroutine();
  if (w == nullptr || x->home != &w->home()) {
    resume_later(x);
    return std::noop_coroutine();
  }
  if (!w->may_run(*x)) [[unlikely]] {
    tell_wake(*x);
    w->home().put_aside(*w, x);
    return std::noop_coroutine();
  }
  if (auto* by = w->watched()) [[unlikely]]
    by->switched(x->as);
  w->enter(x->as);
  return worker::transfer(x->handle);
}

/// Runs the callbacks of a cell; later ones wait until it is done. For those whose end takes more than one step.
inline void seal(cell_base& cell) noexcept {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: observe
  for (;;) {
    if (auto* block = block_of(s)) return block->close(cell);
    // release is not needed: it publishes nothing; acquire on failure: the block
    if (cell.state.compare_exchange_weak(s, s | state_sealed, std::memory_order_acquire, std::memory_order_acquire))
      return;
  }
}

/// Resumes all of a list but the first, which it gives, from queues.
inline waiter* resume_rest(sched::job* waiters) noexcept {
  auto* first = static_cast<waiter*>(waiters);
  if (first == nullptr) return nullptr;
  for (auto* rest = first->next_job; rest != nullptr;) {
    resume_later(static_cast<waiter*>(base::exchange(rest, rest->next_job)));
  }
  return first;
}

/// Makes the cell done: callbacks first, then the bit, with `drop` subtracted in the same step; then all waiters but
/// one are resumed from queues. Gives that one, or null. The cell may be gone afterwards; `last` says whether the
/// caller's was the last hold and it must end the cell. `before_done()` is called, once or more, when callbacks have
/// run and the cell is still there.
template <class BeforeDone>
waiter* complete(cell_base& cell, std::uint64_t drop, bool& last, BeforeDone before_done) noexcept {
  sched::job* waiters = nullptr;
  auto s = cell.state.load(std::memory_order_acquire);  // partner: observe
  observer_block* closed = nullptr;
  for (base::backoff turns;;) {
    if (auto* block = block_of(s); block != nullptr && closed == nullptr) {
      block->close(cell);
      waiters = block->take_waiters();
      closed = block;
      s = cell.state.load(std::memory_order_acquire);  // partner: owners that were dropped meanwhile
    }
    if ((s & state_held) != 0) {
      turns.wait();
      s = cell.state.load(std::memory_order_acquire);  // partner: let_go
      continue;
    }
    before_done();
    // release: the result; acquire: the waiter's contents
    if (cell.state.compare_exchange_weak(s, (s | state_done) - drop, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      break;
    }
  }
  last = drop != 0 && s / state_owner == 1;
  return closed != nullptr ? resume_rest(waiters) : single_waiter(s);
}
inline waiter* complete(cell_base& cell, std::uint64_t drop, bool& last) noexcept {
  return complete(cell, drop, last, [] {});
}

/// Keeps the task from ending until let_go. False if it has ended.
inline bool hold_open(cell_base& cell) noexcept {
  auto s = cell.state.load(std::memory_order_acquire);
  for (base::backoff turns;;) {
    if ((s & state_done) != 0) return false;
    if ((s & state_held) == 0) {
      // acquire: what an earlier holder has made; partner: let_go
      if (cell.state.compare_exchange_weak(s, s | state_held, std::memory_order_acquire, std::memory_order_acquire))
        return true;
      continue;
    }
    turns.wait();
    s = cell.state.load(std::memory_order_acquire);  // as above
  }
}
/// Ends hold_open by who has requested a stop.
inline void let_go(cell_base& cell) noexcept {
  auto s = cell.state.load(std::memory_order_relaxed);  // only compared
  // release: what the holder has made; partners: hold_open, complete. relaxed on failure: only compared
  while (!cell.state.compare_exchange_weak(s, (s & ~state_held) | state_stopped, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
}

/// The same as complete for a cell that the caller has sealed and holds open, and that nobody owns by a count.
inline waiter* complete_held(cell_base& cell) noexcept {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: observe
  sched::job* waiters = block_of(s) != nullptr ? block_of(s)->take_waiters() : nullptr;
  const bool observed = (s & state_observed) != 0;
  // release: the result. relaxed on failure: only compared
  while (!cell.state.compare_exchange_weak(s, (s | state_done) & ~state_held, std::memory_order_acq_rel,
                                           std::memory_order_relaxed)) {
  }
  return observed ? resume_rest(waiters) : single_waiter(s);
}

}  // namespace plait::detail
