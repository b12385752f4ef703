// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <thread>

#include "waiting.hpp"

using plait::pool;
using plait::task;
namespace detail = plait::detail;

namespace observers_cases {

/// A cell that no task ends, as a promise has one.
struct bare_cell : detail::result_cell<int> {
  bare_cell() noexcept {
    kind = detail::origin::object;
    static constexpr detail::cell_functions own{[](detail::cell_base*) noexcept {}, &detail::refuse_all};
    functions = &own;
  }
  ~bare_cell() {
    detail::end_observers(*this);
    clear();
  }
  void end(int result) {
    set_value(result);
    bool last = false;
    detail::resume_later(detail::complete(*this, 0, last));
  }
};

struct until_done {
  using resumes_in_pool = void;
  detail::result_cell<int>& cell;
  detail::waiter waiter{};
  bool await_ready() const noexcept { return cell.done(); }
  bool await_suspend(std::coroutine_handle<> h) {
    detail::prepare(waiter, detail::worker::of_this_thread(), h);
    return detail::add_waiter(cell, &waiter);
  }
  int await_resume() const { return cell.look(); }
};

task<int> wait_for(detail::result_cell<int>& cell) { co_return co_await until_done{cell}; }

struct counting final : detail::callback {
  explicit counting(std::atomic<int>& n) : calls(n) {}
  void call(detail::cell_base&) noexcept override { ++calls; }
  std::atomic<int>& calls;
};

/// Lets threads begin a round together.
class rounds {
 public:
  explicit rounds(int parties) : parties_(parties) {}
  void meet(int round) {
    ++there_;
    for (int turn = 0; there_.load() < (round + 1) * parties_; ++turn) {
      if (turn > 200) std::this_thread::yield();
    }
  }

 private:
  const int parties_;
  std::atomic<int> there_{0};
};

TEST_CASE("a task, a callback, a timed wait and the end of one cell meet in any order") {
  constexpr int many = 10000;
  pool p({.workers = 1});
  rounds start(3), end(3);
  std::unique_ptr<bare_cell> cell = std::make_unique<bare_cell>();
  std::atomic<int> calls{0}, late{0};
  std::thread observer([&] {
    for (int i = 0; i < many; ++i) {
      start.meet(i);
      if (i % 2 == 0) {
        auto* block = detail::observe(*cell);
        auto* c = new counting(calls);
        if (block == nullptr || !block->add(c)) {
          ++late;
          delete c;
        }
      } else {
        static_cast<void>(detail::wait_blocking_until(*cell, nullptr, std::chrono::steady_clock::now()));
      }
      end.meet(i);
    }
  });
  std::thread completer([&] {
    for (int i = 0; i < many; ++i) {
      start.meet(i);
      for (int k = 0; k < i % 32; ++k) plait::base::pause();  // now before the observer, now after it
      cell->end(i);
      end.meet(i);
    }
  });
  int wrong = 0;
  for (int i = 0; i < many; ++i) {
    auto f = p.spawn(wait_for(*cell));
    if (i % 8 < 6) plait_test::wait_until([&] { return cell->state.load() != 0; }, "the task to wait");
    start.meet(i);
    end.meet(i);
    wrong += f.get() != i;
    cell = std::make_unique<bare_cell>();
  }
  observer.join();
  completer.join();
  CHECK(wrong == 0);
  CHECK(calls + late == many / 2);
}

TEST_CASE("a block keeps its cell's first waiter first, and gives back waiters that leave") {
  bare_cell cell;
  detail::waiter first, second, third;
  CHECK(detail::add_waiter(cell, &first));
  auto* block = detail::observe(cell);
  REQUIRE(block != nullptr);
  CHECK(block->add(&second));
  CHECK(block->add(&third));
  CHECK(block->remove(&second));
  CHECK_FALSE(block->remove(&second));
  block->close(cell);
  auto* list = block->take_waiters();
  CHECK(list == &first);
  CHECK(list->next_job == &third);
  CHECK(third.next_job == nullptr);
  CHECK_FALSE(block->remove(&first));
  CHECK_FALSE(block->add(&second));
}

}  // namespace observers_cases
