// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/sched/pool.hpp>
#include <plait/task/result_cell.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// Who waits for a cell, and what happens to them when it is done.

namespace plait::detail {

using sched::waiter;
using sched::worker;

/// A function to call when a cell is done, before others see that it is.
struct callback {
  virtual ~callback() = default;
  virtual void call(cell_base& cell) noexcept = 0;
};

/// The observers of a cell that has more than a single plain waiter.
class observer_block {
 public:
  /// False if the cell is about to be done: it will be in a moment.
  bool add(waiter* w) {
    const std::lock_guard lock(mutex_);
    if (!closed_) waiters_.push_back(w);
    return !closed_;
  }
  /// False if the completion has taken it already; it will be notified.
  bool remove(waiter* w) noexcept {
    const std::lock_guard lock(mutex_);
    return std::erase(waiters_, w) != 0;
  }
  /// Leaves the callback with the caller and returns false if callbacks have run already.
  bool add(std::unique_ptr<callback>& c) {
    const std::lock_guard lock(mutex_);
    if (!closed_) callbacks_.push_back(std::move(c));
    return !closed_;
  }
  /// Runs all callbacks, those that come meanwhile too, and then gives the waiters. Once, by who completes.
  std::vector<waiter*> close(cell_base& cell) noexcept {
    completer_.store(std::this_thread::get_id(), std::memory_order_relaxed);  // read by the same thread in is_completing_here
    for (;;) {
      std::vector<std::unique_ptr<callback>> next;
      {
        const std::lock_guard lock(mutex_);
        if (callbacks_.empty()) {
          closed_ = true;
          return std::move(waiters_);
        }
        next.swap(callbacks_);
      }
      for (auto& c : next) c->call(cell);
    }
  }
  /// Whether the calling thread is running the callbacks: to them the cell is done.
  bool is_completing_here() const noexcept {
    return completer_.load(std::memory_order_relaxed) == std::this_thread::get_id();  // only equal in the storing thread
  }

 private:
  std::mutex mutex_;
  std::vector<waiter*> waiters_;
  std::vector<std::unique_ptr<callback>> callbacks_;
  bool closed_ = false;
  std::atomic<std::thread::id> completer_{};
};

inline waiter* single_waiter(std::uint64_t state) noexcept { return reinterpret_cast<waiter*>(state & state_address); }
inline observer_block* block_of(std::uint64_t state) noexcept {
  return (state & state_observed) != 0 ? reinterpret_cast<observer_block*>(state & state_address) : nullptr;
}

/// Ends the block, if there is one. Called when the cell ends.
inline void end_observers(cell_base& cell) noexcept { delete block_of(cell.state.load(std::memory_order_relaxed)); }  // last owner

/// The cell's observer block, made if there is none, or null if the cell is done and has none.
inline observer_block* observe(cell_base& cell) {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: the exchange below, which publishes the block
  std::unique_ptr<observer_block> fresh;
  for (;;) {
    if (auto* block = block_of(s)) return block;
    if ((s & state_done) != 0) return nullptr;
    if (!fresh) fresh = std::make_unique<observer_block>();
    auto* before = single_waiter(s);
    if (before != nullptr) fresh->add(before);
    const auto next = (s & ~state_address) | state_observed | reinterpret_cast<std::uint64_t>(fresh.get());
    // release: publishes the block; acquire: for the next turn
    if (cell.state.compare_exchange_strong(s, next, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return fresh.release();
    }
    if (before != nullptr) fresh = nullptr;  // the single waiter may have changed
  }
}

/// Lets `w` be resumed or notified when the cell is done. False if it is done already.
inline bool add_waiter(cell_base& cell, waiter* w) {
  auto s = cell.state.load(std::memory_order_acquire);  // partner: the completion
  while ((s & (state_done | state_address)) == 0) {
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
  while (!cell.done()) std::this_thread::yield();  // its callbacks have run; the completer is about to say so
  return false;
}

/// What a queue executes to resume a waiter.
inline void resume_waiter(sched::job* j, worker& w) noexcept {
  auto& x = *static_cast<waiter*>(j);
  w.current = x.resumes_as;
  w.resume(x.handle);
}

/// Fills in what a suspended coroutine waits with.
inline void prepare(waiter& x, worker* w, std::coroutine_handle<> h) noexcept {
  x.execute = &resume_waiter;
  x.notify = nullptr;
  x.handle = h;
  x.resumes_as = w != nullptr ? w->current : nullptr;
  x.home = w != nullptr ? &w->home() : nullptr;
}

/// The waiter to resume once all `notify` functions have had their say, or null.
inline waiter* notified(waiter* x) noexcept {
  while (x != nullptr && x->notify != nullptr) x = x->notify(x);
  return x;
}

/// Resumes a waiter from a queue of its pool. One that waits in no pool is resumed here and now.
inline void resume_later(waiter* x) noexcept {
  x = notified(x);
  if (x == nullptr) return;
  if (x->home != nullptr) {
    x->home->post(x);
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
  w->current = x->resumes_as;
  return worker::transfer(w, x->handle);
}

/// Makes the cell done: callbacks first, then the bit, with `drop` subtracted in the same step; then all waiters but one
/// are resumed from queues. Gives that one, or null. The cell may be gone afterwards; `last` says whether the caller's was
/// the last hold and it must end the cell.
inline waiter* complete(cell_base& cell, std::uint64_t drop, bool& last) noexcept {
  std::vector<waiter*> waiters;
  bool closed = false;
  auto s = cell.state.load(std::memory_order_acquire);  // partner: observe
  for (;;) {
    if (auto* block = block_of(s); block != nullptr && !closed) {
      waiters = block->close(cell);
      closed = true;
      s = cell.state.load(std::memory_order_acquire);  // partner: owners that were dropped meanwhile
    }
    // release: the result; acquire: the waiter's contents
    if (cell.state.compare_exchange_weak(s, (s | state_done) - drop, std::memory_order_acq_rel, std::memory_order_acquire)) {
      break;
    }
  }
  last = drop != 0 && s / state_owner == 1;
  if (!closed) return single_waiter(s);
  if (waiters.empty()) return nullptr;
  for (std::size_t i = 1; i < waiters.size(); ++i) resume_later(waiters[i]);
  return waiters.front();
}

}  // namespace plait::detail
