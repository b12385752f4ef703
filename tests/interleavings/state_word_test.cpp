// SPDX-License-Identifier: BSL-1.0
#include <plait/task/blocking_wait.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/result_cell.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "expecting.hpp"

namespace detail = plait::detail;
using interleaving::plain;
using interleaving::require;

namespace {

constexpr auto past = std::chrono::steady_clock::time_point::min();

using value_cell = detail::result_cell<plain<int>>;

struct owned_cell;
struct with_place : value_cell {
  owned_cell* place = nullptr;
};

/// A cell with two owners, as a spawned task has it: the future and the run.
struct owned_cell {
  std::optional<with_place> cell;
  int ends = 0;

  owned_cell() {
    cell.emplace();
    cell->place = this;
    cell->kind = detail::origin::object;
    cell->state.store(2 * detail::state_owner, std::memory_order_relaxed);
    static constexpr detail::cell_functions own{&destroy, &detail::refuse_all};
    cell->functions = &own;
  }

  static void destroy(detail::cell_base* c) noexcept {
    auto& self = *static_cast<with_place*>(static_cast<value_cell*>(c));
    require(self.ended != detail::outcome::value || self.value.read() == 5, "the cell ends with a wrong value");
    detail::end_observers(self);
    self.clear();
    auto& where = *self.place;
    ++where.ends;
    where.cell.reset();
  }

  /// The end of the run.
  void complete() {
    auto& c = *cell;
    c.set_value(5);
    bool last = false;
    auto* next = detail::complete(c, detail::state_owner, last);
    if (last) destroy(&c);
    detail::resume_later(next);
  }
  void cancel_or(bool run) {
    auto& c = *cell;
    if (!c.claim()) return c.drop_owner();
    if (run) {
      c.set_value(5);
    } else {
      c.set_cancelled();
    }
    bool last = false;
    auto* next = detail::complete(c, detail::state_owner, last);
    if (last) destroy(&c);
    detail::resume_later(next);
  }
  void read() { require(cell->done() && cell->take().read() == 5, "a wrong result"); }
};

struct counting final : detail::callback {
  explicit counting(int& n) : calls(n) {}
  void call(detail::cell_base& c) noexcept override {
    ++calls;
    require(static_cast<value_cell&>(c).value.read() == 5, "a callback sees no result");
  }
  int& calls;
};
/// As future::add_done_callback.
void add_callback(detail::cell_base& cell, int& calls) {
  auto* block = detail::observe(cell);
  auto made = std::make_unique<counting>(calls);
  if (block != nullptr && block->add(made.get())) {
    static_cast<void>(made.release());
    return;
  }
  while (!cell.done()) plait::base::give_way();
  made->call(cell);
}

/// What a user does with the future beside the end of the task.
enum class use { wait, drop, timed_then_drop, callback_then_drop, callback_then_wait, timed_then_wait };

struct end_and_use {
  static constexpr std::size_t threads = 2;
  use what;
  owned_cell owned;
  int calls = 0;
  explicit end_and_use(use u) : what(u) {}

  void run(std::size_t thread) {
    if (thread == 0) return owned.complete();
    auto& c = *owned.cell;
    if (what == use::callback_then_drop || what == use::callback_then_wait) add_callback(c, calls);
    if (what == use::timed_then_drop || what == use::timed_then_wait) {
      if (detail::wait_blocking_until(c, nullptr, past)) owned.read();
    }
    if (what == use::wait || what == use::callback_then_wait || what == use::timed_then_wait) {
      detail::wait_blocking(c, nullptr);
      owned.read();
    }
    c.drop_owner();
  }
  void end() {
    require(owned.ends == 1, "the cell does not end once");
    const bool expected = what == use::callback_then_drop || what == use::callback_then_wait;
    require(calls == (expected ? 1 : 0), "the callback does not run once");
  }
};

/// The end of a task, and two who observe it at the same time, as copies of a shared_future do. The holds of the two
/// are beside those of the run.
struct end_and_two {
  static constexpr std::size_t threads = 3;
  use first, second;
  owned_cell owned;
  int calls = 0;
  end_and_two(use a, use b) : first(a), second(b) {
    owned.cell->state.store(3 * detail::state_owner, std::memory_order_relaxed);
  }
  void run(std::size_t thread) {
    if (thread == 0) return owned.complete();
    auto& c = *owned.cell;
    const auto what = thread == 1 ? first : second;
    if (what == use::callback_then_drop) add_callback(c, calls);
    if (what == use::timed_then_drop) static_cast<void>(detail::wait_blocking_until(c, nullptr, past));
    if (what == use::wait) {
      detail::wait_blocking(c, nullptr);
      require(c.done(), "a wait ends before the task");
    }
    c.drop_owner();
  }
  void end() {
    require(owned.ends == 1, "the cell does not end once");
    require(calls == (first == use::callback_then_drop) + (second == use::callback_then_drop),
            "a callback does not run once");
  }
};

/// A queued task is claimed by its queue and cancelled by its future at once. Somebody waits.
struct claim_and_cancel {
  static constexpr std::size_t threads = 3;
  owned_cell owned;
  claim_and_cancel() { owned.cell->state.store(3 * detail::state_owner, std::memory_order_relaxed); }
  void run(std::size_t thread) {
    auto& c = *owned.cell;
    if (thread == 0) return owned.cancel_or(true);
    if (thread == 1) {
      // as control_spawned: the run that it may become holds the cell beside the queue
      c.state.fetch_add(detail::state_owner, std::memory_order_relaxed);
      owned.cancel_or(false);
    } else {
      detail::wait_blocking(c, nullptr);
      require(c.done(), "a wait ends before the task");
    }
    c.drop_owner();
  }
  void end() { require(owned.ends == 1, "the cell does not end once"); }
};

/// The slow end of a fork, its parent who waits, and somebody who requests a stop.
struct fork_end {
  static constexpr std::size_t threads = 3;
  bool with_callback;
  std::optional<value_cell> cell;
  plain<int> made_by_holder;
  int calls = 0;
  bool parent_waited = false, holder_left = false;
  explicit fork_end(bool callback) : with_callback(callback) {
    cell.emplace();
    cell->kind = detail::origin::fork;
  }
  void run(std::size_t thread) {
    auto& c = *cell;
    if (thread == 0) {
      c.set_value(5);
      detail::seal(c);
      detail::hold_open(c);
      made_by_holder.write(1);
      detail::resume_later(detail::complete_held(c));
    } else if (thread == 1) {
      if (with_callback) add_callback(c, calls);
      detail::wait_blocking(c, nullptr);
      require(c.take().read() == 5, "a wrong result");
      parent_waited = true;
    } else {
      if (detail::hold_open(c)) {
        made_by_holder.write(2);
        detail::let_go(c);
      }
      holder_left = true;
    }
    if (parent_waited && holder_left && cell) {  // who requests holds the family that the frame's owner waits for
      detail::end_observers(c);
      c.clear();
      cell.reset();
    }
  }
  void end() {
    require(!cell, "the cell does not end");
    require(calls == (with_callback ? 1 : 0), "the callback does not run once");
  }
};

template <class Scenario, class... A>
interleaving::result search(interleaving::limits how, A... arguments) {
  return interleaving::checker::instance().search<Scenario>(how, arguments...);
}
constexpr interleaving::limits wide = {.preemptions = 3, .stale = 2};
constexpr interleaving::limits narrow = {.preemptions = 2, .stale = 1, .executions = 300000};

}  // namespace

TEST_CASE("the end of a task beside an await, a callback, a time-out and the end of its future, in all orders") {
  for (const auto what : {use::wait, use::drop, use::timed_then_drop, use::callback_then_drop, use::callback_then_wait,
                          use::timed_then_wait}) {
    expect_none_in_all(search<end_and_use>(wide, what));
  }
}

TEST_CASE("the end of a task beside two observers, in all orders") {
  expect_none_in_all(search<end_and_two>(narrow, use::wait, use::wait));
  expect_none_in_all(search<end_and_two>(narrow, use::wait, use::callback_then_drop));
  expect_none_in_all(search<end_and_two>(narrow, use::wait, use::timed_then_drop));
  expect_none_in_all(search<end_and_two>(narrow, use::callback_then_drop, use::timed_then_drop));
  expect_none_in_all(search<end_and_two>(narrow, use::wait, use::drop));
}

TEST_CASE("a queued task is either run or cancelled, and ends once, in all orders") {
  expect_none_in_all(search<claim_and_cancel>(narrow));
}

TEST_CASE("the end of a fork beside its parent's wait and a request to stop, in all orders") {
  expect_none_in_all(search<fork_end>(narrow, false));
  expect_none_in_all(search<fork_end>(narrow, true));
}

TEST_CASE("faults at the state word are found") {
  using interleaving::mutation;
  using interleaving::operation;
  const auto found = [](mutation fault) {
    auto how = narrow;
    how.fault = fault;
    std::uint64_t mutated = 0;
    interleaving::result r;
    const auto tried = [&](interleaving::result one) {
      mutated += one.mutated;
      r = one;
      r.mutated = mutated;
      return !r.fault.empty();
    };
    for (const auto what : {use::wait, use::drop, use::callback_then_wait, use::timed_then_wait}) {
      if (tried(search<end_and_use>(how, what))) return r;
    }
    static_cast<void>(tried(search<claim_and_cancel>(how)) || tried(search<fork_end>(how, false)) ||
                      tried(search<fork_end>(how, true)) ||
                      tried(search<end_and_two>(how, use::wait, use::callback_then_drop)));
    return r;
  };
  SUBCASE("a completion that does not release") { expect_fault(found({"complete", operation::compare_exchange})); }
  SUBCASE("a completion that looks and stores in two steps") {
    expect_fault(found({"complete", operation::compare_exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("a waiter that is added by looking and storing in two steps") {
    expect_fault(found({"add_waiter", operation::compare_exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("a block that is put in its place in two steps") {
    expect_fault(found({"observe", operation::compare_exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("done that is read without acquire") { expect_fault(found({"::done", operation::load})); }
  SUBCASE("a hold that is dropped without a word for the last one") {
    expect_fault(found({"drop_owner", operation::add}));
  }
  SUBCASE("a lone owner that ends the cell without having seen the others") {
    expect_fault(found({"drop_owner", operation::load}));
  }
  SUBCASE("a claim in two steps") { expect_fault(found({"claim", operation::add, mutation::kind::no_exchange})); }
  SUBCASE("a request to stop that lets go without release") {
    expect_fault(found({"let_go", operation::compare_exchange}));
  }
  SUBCASE("a fork's end that seals in two steps") {
    expect_fault(found({"seal", operation::compare_exchange, mutation::kind::no_exchange}));
  }
}
