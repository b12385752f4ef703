// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "waiting.hpp"

using namespace std::chrono_literals;
using plait::fork;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace blocking_wait_cases {

/// Plain functions that wait by get() at each level.
long fib_plain(int n) {
  if (n < 2) return n;
  auto a = spawn(fib_plain, n - 1);
  const long b = fib_plain(n - 2);
  return a.get() + b;
}

int down_plain(int depth) { return depth == 0 ? 0 : spawn(down_plain, depth - 1).get() + 1; }

/// Goes down until a wait finds too little stack. What is queued then is detached, and ends at once.
[[maybe_unused]] int down_until_error(int depth, std::atomic<bool>& over) {
  if (depth == 0 || over) return 0;
  auto f = spawn(down_until_error, depth - 1, std::ref(over));
  try {
    return f.get() + 1;
  } catch (const plait::error&) {
    over = true;
    throw;
  }
}

/// Coroutines that fork and then block.
task<long> fib_blocking(int n) {
  if (n < 2) {
    for (int i = 0; i < n; ++i) co_await plait::yield();
    co_return n;
  }
  auto a = co_await fork(fib_blocking(n - 1));
  auto b = co_await fork(fib_blocking(n - 2));
  const long x = a.get();
  co_return x + b.get();
}

void busy(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

TEST_CASE("a recursion of plain functions that wait by get is right with any number of workers") {
  for (const int workers : {1, 2, 3}) {
    pool p({.workers = workers});
    CHECK(p.spawn(fib_plain, 16).get() == 987);
  }
}

TEST_CASE("get waits at a depth of a thousand tasks on one worker") {
  pool p({.workers = 1});
  CHECK(p.spawn(down_plain, 1000).get() == 1000);
}

#if !PLAIT_TSAN  // it keeps a stack of calls of its own, which is shorter
TEST_CASE("a wait that finds too little stack is an error that says to co_await, and all futures complete") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<bool> over{false};
    try {
      p.spawn(down_until_error, 1000000, std::ref(over)).get();
      FAIL("no error");
    } catch (const plait::error& e) {
      CHECK(std::string(e.what()).find("co_await") != std::string::npos);
    }
    CHECK(p.spawn(down_plain, 100).get() == 100);  // the pool is as good as before
  }
}
#endif

TEST_CASE("coroutines that fork and then block do not bury what they wait for") {
  for (const int workers : {1, 2, 3, 5}) {
    pool p({.workers = workers});
    for (int i = 0; i < 10; ++i) REQUIRE(p.run(fib_blocking(11)) == 89);
  }
}

TEST_CASE("coroutines that fork, compute and then block, on more workers than processors") {
  struct helper {
    static task<int> tree(int depth, int seed) {
      busy(std::chrono::microseconds(seed % 30));
      if (depth == 0) co_return 1;
      auto a = co_await fork(tree(depth - 1, seed * 7 + 1));
      busy(std::chrono::microseconds(seed % 20));
      auto b = co_await fork(tree(depth - 1, seed * 5 + 3));
      const int x = a.get();
      co_return x + b.get();
    }
  };
  pool p({.workers = 4});
  for (int i = 0; i < 40; ++i) REQUIRE(p.run(helper::tree(7, i)) == 128);
}

TEST_CASE("a child that waits by get does not run its own parent on top of itself") {
  struct helper {
    static task<int> suspended() {
      co_await plait::yield();
      co_return 1;
    }
    static task<int> child() {
      auto g = spawn(suspended());
      co_return g.get();
    }
    static task<int> parent() {
      auto c = co_await fork(child());
      co_return c.get();
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 100; ++i) REQUIRE(p.run(helper::parent()) == 1);
  }
}

TEST_CASE("a blocked worker still runs what it alone can run, where nobody else is awake") {
  // The child waits for a task that goes on only when its parent, whose rest the child's worker has put aside, says so.
  struct event {
    plait::detail::waiter waits;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      plait::detail::prepare(waits, plait::sched::worker::of_this_thread(), h);
    }
    void await_resume() const noexcept {}
    void set() { plait::detail::resume_later(&waits); }
  };
  struct helper {
    static task<int> suspended(event& e) {
      co_await e;
      co_return 3;
    }
    static task<int> child(future<int>& f) { co_return f.get(); }
    static task<int> parent() {
      event e;
      auto f = co_await fork(suspended(e));
      auto c = co_await fork(child(f));
      e.set();
      co_return co_await c;
    }
  };
  pool p({.workers = 1});
  for (int i = 0; i < 20; ++i) REQUIRE(p.run(helper::parent()) == 3);
}

TEST_CASE("while a timer runs, nothing goes on on top of a wait that it will end") {
  struct helper {
    static task<int> sleeps() {
      co_await plait::sleep_for(20ms);
      co_return 1;
    }
    static int waits() { return spawn(sleeps()).get() + 1; }
    static task<int> waits_for_its_child() {
      auto child = spawn(waits);
      co_await plait::yield();  // the child runs now, and waits; what follows is to wait for it
      co_return child.get() + 1;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    REQUIRE(p.run(helper::waits_for_its_child()) == 3);
  }
}

TEST_CASE("while something runs outside of the pool, nothing goes on on top of a wait that it will end") {
  // first waits for middle, which waits for what another thread does meanwhile. On one worker only middle's stack is
  // left to go on with first, which would bury middle.
  struct helper {
    static int slowly() {
      std::this_thread::sleep_for(5ms);
      return 1;
    }
    static task<int> at_home(int way, pool& other) {
      if (way == 0) co_return co_await plait::blocking(slowly);
      if (way == 1) {
        co_await plait::resume_on(other);
        co_return slowly();
      }
      auto there = other.spawn(slowly);
      co_return co_await there;
    }
    static int middle(int way, pool& other) {
      if (way == 3) return other.spawn(slowly).get();
      if (way == 4) return other.run([]() -> task<int> { co_return slowly(); }());
      return spawn(at_home(way, other)).get();
    }
    static task<int> first(int way, pool& other) {
      auto f = spawn(middle, way, std::ref(other));
      co_await plait::yield();
      co_return f.get();
    }
  };
  pool other({.workers = 2});
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int way = 0; way < 5; ++way) {
      for (int i = 0; i < 5; ++i) CHECK(p.run(helper::first(way, other)) == 1);
    }
  }
}

TEST_CASE("what was put aside goes on when nothing runs outside of the pool any more") {
  // The wait is for what its parent does afterwards: nobody promises that, but it works with one worker too. Here
  // something that has nothing to do with it runs elsewhere at first.
  struct helper {
    static task<int> parent(plait::promise<int>& p, pool& other) {
      spawn_elsewhere(other);
      auto given = p.get_future();
      auto waits = spawn([&given] { return given.get(); });
      co_await plait::yield();
      p.set_value(3);
      co_return co_await waits;
    }
    static void spawn_elsewhere(pool& other) {
      auto there = other.spawn([] { std::this_thread::sleep_for(20ms); });
      static_cast<void>(there);
      auto call = spawn([]() -> task<> { co_await plait::blocking([] { std::this_thread::sleep_for(10ms); }); });
      static_cast<void>(call);
    }
  };
  pool other({.workers = 1});
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 5; ++i) {
      plait::promise<int> given;
      CHECK(p.run(helper::parent(given, other)) == 3);
    }
  }
}

TEST_CASE("a pool may end before what its tasks have started in another one") {
  pool other({.workers = 1});
  std::atomic<bool> go{false};
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    pool p({.workers = 1});
    p.run([](pool& o, std::atomic<bool>& may_go, std::atomic<int>& count) -> task<> {
      auto there = o.spawn([](std::atomic<bool>& g, std::atomic<int>& c) -> task<> {
        while (!g) co_await plait::sleep_for(1ms);
        auto more = spawn([&c] { ++c; });
        co_await more;
      }(may_go, count));
      static_cast<void>(there);
      co_return;
    }(other, go, ran));
  }
  go = true;
  plait_test::wait_until([&ran] { return ran == 20; }, "the tasks of pools that have ended");
}

TEST_CASE("a blocking wait runs the awaited job itself if it is still queued") {
  pool p({.workers = 1});
  const bool same = p.spawn([] {
                       std::vector<future<std::thread::id>> futures;
                       for (int i = 0; i < 100; ++i)
                         futures.push_back(spawn([] { return std::this_thread::get_id(); }));
                       bool here = true;
                       for (auto& f : futures) here = here && f.get() == std::this_thread::get_id();
                       return here;
                     }).get();
  CHECK(same);
}

TEST_CASE("a job queued long before is awaited by a blocking wait in a later one") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<bool> go{false};
    auto holder = p.spawn([&] {
      while (!go) std::this_thread::yield();
    });
    std::vector<future<int>> first;
    for (int i = 0; i < 50; ++i) first.push_back(p.spawn([i] { return i; }));
    auto last = p.spawn([&] {
      int sum = 0;
      for (auto& f : first) sum += f.get();
      return sum;
    });
    go = true;
    CHECK(last.get() == 1225);
    holder.get();
  }
}

TEST_CASE("exceptions come out of get at every level of a recursion") {
  struct helper {
    static int down(int depth) {
      if (depth == 0) throw std::out_of_range("bottom");
      return spawn(&down, depth - 1).get() + 1;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK_THROWS_WITH_AS(p.spawn(&helper::down, 200).get(), "bottom", std::out_of_range);
  }
}

TEST_CASE("sync_wait and run work inside of tasks, at some depth") {
  struct helper {
    static task<int> down(int depth) {
      if (depth == 0) co_return 0;
      co_await plait::yield();
      co_return plait::sync_wait(down(depth - 1)) + 1;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::down(100)) == 100);
  }
}

TEST_CASE("a wait for a task that lies below on the same stack is an error, not a hang") {
  // With one worker: below waits for a task that ends only after on_top, which is run meanwhile and waits for below.
  pool p({.workers = 1});
  future<int> below, gate;
  std::atomic<bool> there{false}, refused{false}, open{false};
  auto f = p.spawn([&] {
    gate = spawn([&]() -> task<int> {
      while (!open) co_await plait::yield();
      co_return 1;
    });
    auto on_top = spawn([&]() -> task<> {
      while (!there) co_await plait::yield();
      try {
        below.wait();
      } catch (const plait::error& e) {
        refused = std::string(e.what()).find("co_await") != std::string::npos;
      }
      open = true;
    });
    below = spawn([&] {
      there = true;
      return gate.get();
    });
    while (!below.wait_for(1ms)) {
    }
    on_top.get();
    return below.get();
  });
  CHECK(f.get() == 1);
  CHECK(refused);
}

}  // namespace blocking_wait_cases
