// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/pause.hpp>
#include <plait/sched/suspended_list.hpp>
#include <plait/task/children.hpp>
#include <plait/task/future.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/shared_future.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// The one waiter of several cells. Kept by the awaiter and by each place that waits at a cell, so that a cell which
/// ends later, and is about to tell its place, finds it there however far the awaiting task has come.
class first_of final : sched::suspended_list::node {
 public:
  /// The first reference is the caller's.
  explicit first_of(std::size_t cells)
      : places_(cells, [this](void* at, std::size_t i) { ::new (at) place(*this, i); }) {}

  void release() noexcept {
    // acq_rel: all uses happen before the end
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  /// Lets a place wait at the cell. False if the cell is done; then it is the first, unless another one was.
  bool wait_at(cell_base& cell, std::size_t index) {
    auto* block = observe(cell);
    if (block != nullptr) {
      references_.fetch_add(1, std::memory_order_relaxed);  // beside that of the caller
      if (block->add(&places_[index])) {
        places_[index].block = block;
        return true;
      }
      references_.fetch_sub(1, std::memory_order_relaxed);  // as above
    }
    while (!cell.done()) base::give_way();  // its callbacks have run; the completer is about to say so
    auto nobody = registering;
    first_.compare_exchange_strong(nobody, index, std::memory_order_acq_rel);
    return false;
  }
  /// Before suspend, where it may be that no cell ever ends: the end of the pool takes the task away then.
  void let_pool_interrupt(worker& w) noexcept { w.suspended.add(*this); }
  /// After that: whether `resume` will be resumed; if not, a cell has ended already.
  bool suspend() noexcept {
    auto nobody = registering;
    // release: resume; partner: told
    return first_.compare_exchange_strong(nobody, suspended, std::memory_order_acq_rel);
  }
  /// The cell that ended first, or `interrupted`.
  std::size_t first() const noexcept { return first_.load(std::memory_order_acquire); }  // partner: told

  /// The places leave the cells. These must be there yet.
  void leave() noexcept {
    sched::suspended_list::remove(*this);
    for (auto& p : places_) {
      if (p.block != nullptr && p.block->remove(&p)) release();  // else it has been told, or is about to be
    }
  }

  static constexpr std::size_t interrupted = ~std::size_t{0};
  waiter resume;

 private:
  static constexpr std::size_t registering = interrupted - 1;
  static constexpr std::size_t suspended = interrupted - 2;

  struct place : waiter {
    place(first_of& whole, std::size_t i) noexcept : all(whole), index(i) {
      notify = [](waiter* w) noexcept {
        auto& self = *static_cast<place*>(w);
        auto& f = self.all;
        auto* next = f.told(self.index);
        f.release();
        return next;
      };
    }
    first_of& all;
    std::size_t index;
    observer_block* block = nullptr;  // of the awaiting task
  };

  /// A cell has ended. Gives the waiter to resume if it is the first one and the task is suspended.
  waiter* told(std::size_t index) noexcept {
    auto before = first_.load(std::memory_order_relaxed);  // only compared
    while (before == registering || before == suspended) {
      // acquire: resume, by suspend; release: for first
      if (first_.compare_exchange_weak(before, index, std::memory_order_acq_rel, std::memory_order_relaxed))
        return before == suspended ? &resume : nullptr;
    }
    return nullptr;
  }

  waiter* interrupt() noexcept override {
    auto before = suspended;
    // acquire: resume, by suspend; release: for first
    if (!first_.compare_exchange_strong(before, interrupted, std::memory_order_acq_rel)) return nullptr;
    sched::suspended_list::remove_interrupted(*this);
    return &resume;
  }

  base::atomic<std::size_t> first_{registering};
  base::atomic<std::size_t> references_{1};
  base::fixed_array<place> places_;
};

/// Cells: an array or a vector of cell_base*.
template <class Cells>
class [[nodiscard("when_any does nothing until it is co_awaited")]] any_awaiter {
 public:
  using resumes_in_pool = void;
  explicit any_awaiter(Cells cells) : cells_(std::move(cells)) {}
  any_awaiter(any_awaiter && other) noexcept : cells_(std::move(other.cells_)) {}  // before it is awaited
  ~any_awaiter() { leave(); }

  bool await_ready() const noexcept { return lowest() != std::size(cells_); }

  bool await_suspend(std::coroutine_handle<> h) {
    auto* w = worker::of_this_thread();
    auto& f = *(state_ = new first_of(std::size(cells_)));
    prepare(f.resume, w, h);
    bool of_promise = false;
    for (std::size_t i = 0; i < std::size(cells_); ++i) {
      of_promise |= cells_[i]->kind == origin::promise;
      if (!f.wait_at(*cells_[i], i)) break;
    }
    if (of_promise && w != nullptr) f.let_pool_interrupt(*w);
    // If that suspends, another thread may resume the task and end this awaiter.
    if (f.suspend()) return true;
    leave();
    return false;
  }

  std::size_t await_resume() {
    if (state_ == nullptr) return lowest();
    const auto index = state_->first();
    leave();
    if (index == first_of::interrupted) refuse_interrupted_await();
    const auto* first = cells_[index];
    std::size_t i = 0;  // the lowest also where several handles of one task were given
    while (cells_[i] != first) ++i;
    return i;
  }

 private:
  /// The first of the cells that is done, or their number.
  std::size_t lowest() const noexcept {
    std::size_t i = 0;
    while (i < std::size(cells_) && !cells_[i]->done()) ++i;
    return i;
  }
  void leave() noexcept {
    if (state_ == nullptr) return;
    state_->leave();
    base::exchange(state_, nullptr)->release();
  }

  Cells cells_;
  first_of* state_ = nullptr;
};

/// A future or shared_future.
template <class X>
concept handle = is_handle<std::remove_cvref_t<X>>;

template <std::size_t N>
struct some_cells {
  cell_base* cells[N];
  std::size_t size() const noexcept { return N; }
  cell_base* operator[](std::size_t i) const noexcept { return cells[i]; }
};

}  // namespace detail

/// `co_await when_any(f, g, ...)` suspends until one of the futures is done and gives its index: of the one that ended
/// first, or the lowest if some are done already. It takes futures and shared futures by name, and leaves them alone:
/// they must not be moved, or used elsewhere, meanwhile; the others go on, and all stay valid.
template <detail::handle... F>
  requires(sizeof...(F) > 0)
auto when_any(F&&... futures) {
  static_assert((std::is_lvalue_reference_v<F> && ...),
                "plait: when_any leaves its futures to you, so it takes them by name: keep each in a variable");
  using cells = detail::some_cells<sizeof...(F)>;
  return detail::any_awaiter<cells>(cells{{&detail::cell_of(futures)...}});
}

/// The same for a range of futures. Throws plait::error if it is empty.
template <class R>
  requires detail::handle<detail::element_t<R>>
auto when_any(R&& futures) {
  static_assert(
      std::is_lvalue_reference_v<R>,
      "plait: when_any leaves its futures to you, so it takes a range of them by name: keep it in a variable");
  std::vector<detail::cell_base*> cells;
  for (const auto& f : futures) cells.push_back(&detail::cell_of(f));
  if (cells.empty()) throw error("plait: when_any was called with an empty range: there is nothing that could end");
  return detail::any_awaiter<std::vector<detail::cell_base*>>(std::move(cells));
}

/// For a message: tasks have not started.
template <class... T>
  requires(detail::is_task<std::remove_cvref_t<T>> || ...)
auto when_any(T&&...) {
  static_assert(sizeof...(T) == 0,
                "plait: when_any takes futures of tasks that have started: fork or spawn them first");
}

}  // namespace plait
