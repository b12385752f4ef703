// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
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
using plait::sync_wait;
using plait::task;

namespace fork_cases {

task<long> fib(int n) {
  if (n < 2) co_return n;
  future<long> a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}

task<int> number(int n) { co_return n; }
task<int> fail(const char* what) {
  throw std::out_of_range(what);
  co_return 0;
}

/// Ends only when it is told to.
task<> until(std::atomic<bool>& go) {
  while (!go) co_await plait::yield();
}

TEST_CASE("forked tasks give their results, on any number of workers") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    CHECK(p.run(fib(20)) == 6765);
  }
}

TEST_CASE("a fork starts its child at once, before its parent goes on") {
  struct helper {
    static task<> child(std::string& order) {
      order += "child ";
      co_return;
    }
    static task<std::string> parent() {
      std::string order;
      auto f = co_await fork(child(order));
      order += "parent";
      co_await f;
      co_return order;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::parent()) == "child parent");
}

TEST_CASE("a fork gives move-only results, references, and nothing") {
  struct helper {
    static task<std::unique_ptr<int>> make() { co_return std::make_unique<int>(5); }
    static task<int&> refer(int& x) { co_return x; }
    static task<> set(int& x) {
      x = 3;
      co_return;
    }
    static task<int> all() {
      int x = 0, y = 0;
      auto a = co_await fork(make());
      auto b = co_await fork(refer(x));
      auto c = co_await fork(set(y));
      auto made = co_await a;
      int& r = co_await b;
      co_await c;
      r = 1;
      co_return 100 * *made + 10 * x + y;
    }
  };
  CHECK(sync_wait(helper::all()) == 513);
}

TEST_CASE("an exception of a forked child comes out where its future is awaited") {
  struct helper {
    static task<std::string> parent(bool by_get) {
      auto f = co_await fork(fail("child"));
      try {
        if (by_get) {
          f.get();
        } else {
          co_await f;
        }
      } catch (const std::out_of_range& e) {
        co_return e.what();
      }
      co_return "no exception";
    }
  };
  CHECK(sync_wait(helper::parent(false)) == "child");
  CHECK(sync_wait(helper::parent(true)) == "child");
}

TEST_CASE("a fork of a callable keeps copies of callable and arguments") {
  struct helper {
    static task<std::size_t> parent() {
      future<std::size_t> f;
      {
        std::string text(100, 'x');
        // Named first: g++ 12 frees the captures of a lambda twice that lies inside of a co_await expression.
        auto add = [suffix = std::string(50, 'y')](const std::string& a) -> task<std::size_t> {
          co_await plait::yield();
          co_return a.size() + suffix.size();
        };
        f = co_await fork(std::move(add), text);
        text.assign(3, 'z');
      }
      future<int> plain = co_await fork([](int a, int b) { return a * b; }, 6, 7);
      const auto length = co_await f;
      co_return length + static_cast<std::size_t>(co_await plain);
    }
  };
  CHECK(sync_wait(helper::parent()) == 192);
}

TEST_CASE("a dropped fork future waits for its child, so that the child may use its parent's locals") {
  struct helper {
    static task<> child(int& local, std::atomic<bool>& go) {
      co_await until(go);
      local = 7;
    }
    static task<int> parent(std::atomic<bool>& go) {
      int local = 0;
      { auto f = co_await fork(child(local, go)); }
      co_return local;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 20; ++i) {
      std::atomic<bool> go{false};
      auto f = p.spawn(helper::parent(go));
      std::thread setter([&] { go = true; });
      REQUIRE(f.get() == 7);
      setter.join();
    }
  }
}

TEST_CASE("assigning over a fork future waits for its child") {
  struct helper {
    static task<> child(std::atomic<int>& local) {
      for (int i = 0; i < 50; ++i) co_await plait::yield();
      ++local;
    }
    static task<int> parent() {
      std::atomic<int> local{0};
      auto f = co_await fork(child(local));
      f = future<>();
      const int first = local;
      f = co_await fork(child(local));
      auto moved = std::move(f);
      moved = co_await fork(child(local));
      co_await moved;
      co_return 10 * first + local;
    }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 50; ++i) REQUIRE(p.run(helper::parent()) == 13);
}

TEST_CASE("a parent that throws waits for its forked children, which use its locals") {
  struct helper {
    static task<> child(std::vector<int>& data, std::atomic<int>& ended) {
      for (int i = 0; i < 20; ++i) co_await plait::yield();
      for (auto& d : data) d += 1;
      ++ended;
    }
    static task<> parent(std::atomic<int>& ended) {
      std::vector<int> a(100), b(100);
      auto f = co_await fork(child(a, ended));
      auto g = co_await fork(child(b, ended));
      throw std::logic_error("parent");
    }
  };
  for (const int workers : {1, 2, 3}) {
    pool p({.workers = workers});
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> ended{0};
      REQUIRE_THROWS_WITH_AS(p.run(helper::parent(ended)), "parent", std::logic_error);
      REQUIRE(ended == 2);
    }
  }
}

TEST_CASE("a fork future moved into another task is still structured") {
  struct helper {
    static task<> slow(std::atomic<int>& n) {
      for (int i = 0; i < 20; ++i) co_await plait::yield();
      ++n;
    }
    static task<future<>> start(std::atomic<int>& n) { co_return co_await fork(slow(n)); }
    static task<> hold(future<> f) {
      co_await plait::yield();
      f = {};
    }
    static task<int> parent() {
      std::atomic<int> n{0};
      auto f = co_await start(n);
      co_await hold(std::move(f));
      co_return n.load();
    }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 50; ++i) REQUIRE(p.run(helper::parent()) == 1);
}

TEST_CASE("children that spawn tasks do not confuse the fork's way back") {
  struct helper {
    static task<int> leaf(std::atomic<int>& n) {
      ++n;
      co_return 1;
    }
    static task<int> child(std::atomic<int>& n, int depth) {
      auto a = spawn(leaf(n));
      auto b = spawn(leaf(n));
      static_cast<void>(spawn(leaf(n)));  // detached
      int sum = 0;
      if (depth > 0) {
        auto f = co_await fork(child(n, depth - 1));
        auto g = co_await fork(child(n, depth - 1));
        sum = co_await f;
        sum += co_await g;
      }
      sum += co_await a;
      sum += co_await b;
      co_return sum;
    }
  };
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    for (int i = 0; i < 5; ++i) {
      std::atomic<int> n{0};
      REQUIRE(p.run(helper::child(n, 7)) == 2 * 255);
      REQUIRE(n == 3 * 255);
    }
  }
}

TEST_CASE("100,000 forks live at once and are joined in any order") {
  struct helper {
    static task<long> parent(int n, bool backwards) {
      std::vector<future<int>> futures;
      futures.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) futures.push_back(co_await fork(number(i)));
      long sum = 0;
      if (backwards) {
        while (!futures.empty()) {
          sum += co_await futures.back();
          futures.pop_back();
        }
      } else {
        for (auto& f : futures) sum += co_await f;
      }
      co_return sum;
    }
    /// Each child is suspended when the next one starts.
    static task<int> late(int i) {
      co_await plait::yield();
      co_return i;
    }
    static task<long> suspended(int n) {
      std::vector<future<int>> futures;
      for (int i = 0; i < n; ++i) futures.push_back(co_await fork(late(i)));
      long sum = 0;
      for (auto& f : futures) sum += co_await f;
      co_return sum;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::parent(100000, false)) == 4999950000L);
    CHECK(p.run(helper::parent(100000, true)) == 4999950000L);
    CHECK(p.run(helper::suspended(100000)) == 4999950000L);
  }
}

TEST_CASE("exceptions of a thousand forked children all arrive") {
  struct helper {
    static task<int> odd_fails(int i) {
      if (i % 5 == 0) co_await plait::yield();
      if (i % 2 == 1) throw std::runtime_error(std::to_string(i));
      co_return i;
    }
    static task<int> parent() {
      std::vector<future<int>> futures;
      for (int i = 0; i < 1000; ++i) futures.push_back(co_await fork(odd_fails(i)));
      int caught = 0;
      for (int i = 0; i < 1000; ++i) {
        try {
          const int got = co_await futures[static_cast<std::size_t>(i)];
          caught += got == i ? 0 : 100000;
        } catch (const std::runtime_error& e) {
          caught += e.what() == std::to_string(i) ? 1 : 100000;
        }
      }
      co_return caught;
    }
  };
  pool p({.workers = 2});
  CHECK(p.run(helper::parent()) == 500);
}

TEST_CASE("a fork off a worker is an error with a clear message, and frees the child") {
  // Resumed by hand in this thread, which is no worker.
  struct by_hand {
    struct promise_type {
      by_hand get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() { error = std::current_exception(); }
      std::exception_ptr error;
    };
    std::coroutine_handle<promise_type> frame;
  };
  const auto make = []() -> by_hand {
    auto f = co_await fork(number(1));
    co_await f;
  };
  auto c = make();
  c.frame.resume();
  REQUIRE(c.frame.done());
  CHECK_THROWS_WITH_AS(std::rethrow_exception(c.frame.promise().error), doctest::Contains("no worker"), plait::error);
  c.frame.destroy();
}

TEST_CASE("a deep chain of forks needs no stack") {
  struct helper {
    static task<int> down(int depth) {
      if (depth == 0) co_return 0;
      auto f = co_await fork(down(depth - 1));
      co_return co_await f + 1;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::down(100000)) == 100000);
  }
}

TEST_CASE("a future of a fork may be taken off the pool by another thread") {
  struct helper {
    static task<> parent(future<int>& out, std::atomic<bool>& there, std::atomic<bool>& taken) {
      out = co_await fork(
          [](std::atomic<bool>& go) -> task<int> {
            co_await until(go);
            co_return 9;
          },
          std::ref(there));
      there = true;
      co_await until(taken);
    }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 20; ++i) {
    future<int> out;
    std::atomic<bool> there{false}, taken{false};
    auto f = p.spawn(helper::parent(out, there, taken));
    plait_test::wait_until([&] { return there.load(); }, "the fork");
    REQUIRE(out.get() == 9);
    taken = true;
    f.get();
  }
}

TEST_CASE("a fork's future may leave the task that forked, and outlive it") {
  struct helper {
    static task<int> child(std::atomic<bool>& go) {
      while (!go) co_await plait::yield();
      co_return 7;
    }
    static task<future<int>> parent(std::atomic<bool>& go) {
      char large[4000];  // its frame is not reused at once
      large[0] = 1;
      asm volatile("" ::"r"(large) : "memory");
      auto f = co_await plait::fork(child(go));
      co_return std::move(f);
    }
    static task<int> root() {
      std::atomic<bool> go{false};
      auto f = co_await plait::spawn(parent(go));
      go = true;
      co_return co_await f;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 200; ++i) CHECK(p.run(helper::root()) == 7);
  }
}

}  // namespace fork_cases
