// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Blocking waits of which each may go on when its time has come, although the worker has gone on above or beside it.

using namespace std::chrono_literals;
using plait::future;
using plait::pool;
using plait::promise;
using plait::spawn;
using plait::task;

namespace left_loops_cases {

/// What a task waits for that the pool can't know of.
using wait_elsewhere = std::function<task<int>(pool& other)>;

int nap() {
  std::this_thread::sleep_for(20ms);
  return 7;
}
task<int> blocking_call(pool&) { co_return co_await plait::blocking(nap); }
task<int> in_other_pool(pool& other) { co_return co_await other.spawn(nap); }
task<int> guest(pool& other) {
  co_await plait::resume_on(other);
  co_return nap();
}
task<int> timer(pool&) {
  co_await plait::sleep_for(20ms);
  co_return 7;
}
task<int> foreign_promise(pool&) {
  promise<int> p;
  auto f = p.get_future();
  std::thread setter([&p] { p.set_value(nap()); });
  const int got = co_await f;
  setter.join();
  co_return got;
}
task<int> detour(pool& other) { co_return co_await spawn(blocking_call(other)); }

/// Waits by get() for a child that waits elsewhere.
int waits_for_child(const wait_elsewhere& how, pool& other) {
  auto f = spawn(how(other));
  return f.get() + 1;
}
/// Goes on, and waits too, while the one that it has started waits on the worker's stack.
task<int> waits_for_waiting(const wait_elsewhere& how, pool& other) {
  auto f = spawn(waits_for_child, std::cref(how), std::ref(other));
  co_await plait::yield();
  co_return f.get() + 1;
}

/// A tree of tasks. Each waits for its children, and for nothing else, in one way or another; the leaves wait for what
/// comes from elsewhere. Gives the number of its leaves.
struct tree {
  pool& other;
  unsigned seed;
};
task<int> subtree(const tree& t, unsigned number, int depth) {
  std::mt19937 random(t.seed * 1000003 + number);
  if (random() % 3 == 0) co_await plait::yield();
  if (depth == 0) {
    const auto kind = random() % 4;
    if (kind == 0) co_await plait::blocking([] { std::this_thread::yield(); });
    if (kind == 1) co_await t.other.spawn([] {});
    if (kind == 2) co_await plait::sleep_for(100us);
    co_return 1;
  }
  std::vector<future<int>> children;
  for (unsigned i = 1; i <= 3; ++i) {
    auto child = subtree(t, number * 4 + i, depth - 1);
    if (random() % 2 == 0) {
      children.push_back(spawn(std::move(child)));
    } else {
      children.push_back(co_await plait::fork(std::move(child)));
    }
    if (random() % 3 == 0) co_await plait::yield();
  }
  std::shuffle(children.begin(), children.end(), random);
  int leaves = 0;
  for (auto& c : children) {
    const auto how = random() % 3;
    if (how == 0) leaves += co_await c;
    if (how == 1) leaves += c.get();
    if (how == 2) {
      while (!c.wait_for(50us)) {
      }
      leaves += c.get();
    }
  }
  co_return leaves;
}

/// Many tasks that wait for tasks that wait, all at once.
task<int> all_wait(int n) {
  promise<int> p;
  auto end = p.get_future().share();
  std::vector<future<int>> outer;
  int waiting = 0;
  for (int i = 0; i < n; ++i) {
    outer.push_back(spawn([&]() -> task<int> {
      auto inner = spawn([&] {
        auto last = spawn([&]() -> task<int> {
          if (++waiting == n) p.set_value(1);
          co_return co_await end;
        });
        return last.get();
      });
      co_await plait::yield();
      co_return inner.get();
    }));
  }
  int sum = 0;
  for (auto& f : outer) sum += co_await f;
  co_return sum;
}

}  // namespace left_loops_cases

using namespace left_loops_cases;

TEST_CASE("a task waits for one that waits for what comes from outside of the pool") {
  for (const int workers : {1, 2}) {
    pool other({.workers = 1});
    pool p({.workers = workers});
    for (const auto& [name, how] : std::vector<std::pair<std::string, wait_elsewhere>>{{"blocking", blocking_call},
                                                                                       {"other pool", in_other_pool},
                                                                                       {"resume_on", guest},
                                                                                       {"timer", timer},
                                                                                       {"promise", foreign_promise},
                                                                                       {"child", detour}}) {
      CAPTURE(workers);
      CAPTURE(name);
      CHECK(p.run(waits_for_waiting(how, other)) == 9);
    }
  }
}

TEST_CASE("trees of tasks wait in all ways, and their leaves for what comes from elsewhere") {
  pool other({.workers = 1});
  for (const int workers : {1, 2, 3}) {
    pool p({.workers = workers});
    for (unsigned seed = 0; seed < 20; ++seed) {
      CAPTURE(workers);
      CAPTURE(seed);
      const tree t{other, seed};
      CHECK(p.run(subtree(t, 0, 4)) == 81);
    }
  }
}

TEST_CASE("a thousand tasks wait for tasks that wait, on one worker") {
  pool p({.workers = 1});
  CHECK(p.run(all_wait(1000)) == 1000);
}

TEST_CASE("a wait goes on while the worker is busy beside it") {
  pool p({.workers = 1});
  const auto main_task = []() -> task<bool> {
    bool over = false;
    promise<void> begin;
    auto begun = begin.get_future();
    // The wait needs what the caller does after it has begun, and from then on the caller keeps the worker busy.
    auto waiting = spawn([&] {
      begun.get();
      over = true;
    });
    co_await plait::yield();
    begin.set_value();
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!over && std::chrono::steady_clock::now() < until) co_await plait::yield();
    co_await waiting;
    co_return std::chrono::steady_clock::now() < until;
  };
  CHECK(p.run(main_task()));
}

TEST_CASE("a wait with a deadline ends on time on a stack that was left") {
  pool p({.workers = 1});
  const auto main_task = []() -> task<bool> {
    promise<int> never;
    auto nothing = never.get_future();
    auto waiting = spawn([&] { return nothing.wait_for(20ms); });
    co_await plait::yield();
    // On another stack, this blocks until the wait beside it has given up.
    const bool came = waiting.get();
    never.set_value(0);
    co_return came;
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(p.run(main_task()));
  CHECK(std::chrono::steady_clock::now() - start >= 20ms);
}

TEST_CASE("exceptions pass through waits on stacks that were left") {
  pool p({.workers = 1});
  const auto main_task = []() -> task<int> {
    promise<int> late;
    auto f = late.get_future();
    auto waiting = spawn([&]() -> int {
      try {
        throw std::runtime_error("outer");
      } catch (const std::runtime_error& outer) {
        int got = 0;
        try {
          got = f.get();
        } catch (const std::domain_error& inner) {
          return std::string(outer.what()) == "outer" && std::string(inner.what()) == "inner" ? 1 : 2;
        }
        return got;
      }
    });
    co_await plait::yield();
    try {
      throw std::domain_error("inner");
    } catch (...) {
      late.set_exception(std::current_exception());
      co_return waiting.get();  // in the handler of an exception too
    }
  };
  CHECK(p.run(main_task()) == 1);
}
