// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "waiting.hpp"

using plait::future;
using plait::pool;
using plait::spawn;
using plait::sync_wait;
using plait::task;

namespace spawn_cases {
task<int> number(int n) { co_return n; }
int twice(int n) { return 2 * n; }
task<int> fail() {
  throw std::out_of_range("spawned");
  co_return 0;
}
struct adder {
  int base;
  int add(int n) const { return base + n; }
};

TEST_CASE("spawn takes tasks, functions, lambdas, functors, members, and arguments of all kinds") {
  struct helper {
    static task<int> use() {
      auto a = spawn(number(1));
      auto b = spawn(twice, 2);
      auto c = spawn([] { return 3; });
      auto d = spawn([](std::unique_ptr<int> p) { return *p; }, std::make_unique<int>(4));
      auto e = spawn(&adder::add, adder{100}, 5);
      auto f = spawn(
          [](const std::string& s, std::vector<int> v) -> task<int> {
            co_await plait::yield();
            co_return static_cast<int>(s.size() + v.size());
          },
          "abc", std::vector<int>(3));
      int local = 0;
      auto g = spawn([](int& x) { x = 7; }, std::ref(local));
      co_await g;
      co_return co_await a + co_await b + co_await c + co_await d + co_await e + co_await f + local;
    }
  };
  CHECK(sync_wait(helper::use()) == 1 + 4 + 3 + 4 + 105 + 6 + 7);
}

TEST_CASE("spawn keeps the captures of a lambda coroutine until it has ended") {
  struct helper {
    static task<std::size_t> use() {
      std::vector<future<std::size_t>> futures;
      for (std::size_t i = 0; i < 100; ++i) {
        futures.push_back(spawn([text = std::string(i, 'x')]() -> task<std::size_t> {
          for (int k = 0; k < 5; ++k) co_await plait::yield();
          co_return text.size();
        }));
      }
      std::size_t sum = 0;
      for (auto& f : futures) sum += co_await f;
      co_return sum;
    }
  };
  CHECK(sync_wait(helper::use()) == 4950);
}

TEST_CASE("a spawned task is queued: its parent goes on first") {
  struct helper {
    static task<std::string> use() {
      std::string order;
      auto f = spawn([&order] { order += "child"; });
      order += "parent ";
      co_await f;
      co_return order;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::use()) == "parent child");
}

TEST_CASE("spawn works in a thread that is no worker, with results of all kinds") {
  pool p({.workers = 2});
  CHECK(p.spawn(twice, 4).get() == 8);
  CHECK(*p.spawn([] { return std::make_unique<int>(6); }).get() == 6);
  int x = 0;
  CHECK(&p.spawn([&x]() -> int& { return x; }).get() == &x);
  p.spawn([&x] { x = 1; }).get();
  CHECK(x == 1);
  CHECK(spawn(twice, 5).get() == 10);  // the default pool
}

TEST_CASE("an exception of a spawned task comes out of its future with its type") {
  pool p({.workers = 2});
  CHECK_THROWS_WITH_AS(p.spawn(fail()).get(), "spawned", std::out_of_range);
  CHECK_THROWS_AS(p.spawn([] { throw 42; }).get(), int);
  struct my_error {
    int code;
  };
  try {
    p.spawn([] { throw my_error{5}; }).get();
    FAIL("no exception");
  } catch (const my_error& e) {
    CHECK(e.code == 5);
  }
}

TEST_CASE("a dropped future of spawn detaches its task, which still runs") {
  std::atomic<int> ran{0};
  pool p({.workers = 2});
  {
    auto f = p.spawn([&ran] { ++ran; });
  }
  plait_test::wait_until([&] { return ran == 1; }, "the detached task");
  struct helper {
    static task<> count(std::atomic<int>& n) {
      for (int i = 0; i < 10; ++i) co_await plait::yield();
      ++n;
    }
    static task<> start(std::atomic<int>& n) {
      for (int i = 0; i < 100; ++i) {
        auto f = spawn(count(n));
      }
      co_return;
    }
  };
  p.run(helper::start(ran));
  CHECK(ran == 101);
}

TEST_CASE("futures dropped at any moment of their task's life are fine") {
  pool p({.workers = 2});
  std::atomic<int> ran{0};
  for (int i = 0; i < 2000; ++i) {
    auto f = p.spawn([&ran, big = std::make_unique<int>(i)] {
      ++ran;
      return *big;
    });
    if (i % 3 == 0) f.wait();
    if (i % 3 == 1) std::this_thread::yield();
  }
  plait_test::wait_until([&] { return ran == 2000; }, "all tasks");
}

TEST_CASE("exceptions of a thousand spawned children all arrive") {
  struct helper {
    static task<int> parent() {
      std::vector<future<int>> futures;
      for (int i = 0; i < 1000; ++i) {
        futures.push_back(spawn([](int k) -> int { throw std::runtime_error(std::to_string(k)); }, i));
      }
      int right = 0;
      for (int i = 0; i < 1000; ++i) {
        try {
          co_await futures[static_cast<std::size_t>(i)];
        } catch (const std::runtime_error& e) {
          right += e.what() == std::to_string(i);
        }
      }
      co_return right;
    }
  };
  pool p({.workers = 2});
  CHECK(p.run(helper::parent()) == 1000);
}

TEST_CASE("wait_children waits for direct children of all kinds, and never throws") {
  struct helper {
    static task<> slow(std::atomic<int>& n, bool fails) {
      for (int i = 0; i < 20; ++i) co_await plait::yield();
      ++n;
      if (fails) throw std::runtime_error("child");
    }
    static task<> help(std::atomic<int>& n, std::vector<future<>>& keep) {  // awaited inline: the same unit
      for (int i = 0; i < 5; ++i) keep.push_back(spawn(slow(n, false)));
      co_return;
    }
    static task<int> parent() {
      std::atomic<int> n{0};
      std::vector<future<>> keep;
      co_await plait::wait_children();  // none
      for (int i = 0; i < 10; ++i) keep.push_back(spawn(slow(n, i % 2 == 0)));
      for (int i = 0; i < 10; ++i) keep.push_back(co_await plait::fork(slow(n, false)));
      co_await help(n, keep);
      co_await plait::wait_children();
      const int first = n;
      for (auto& f : keep) f.wait();
      int errors = 0;
      for (auto& f : keep) errors += f.exception() != nullptr;
      auto one = spawn(slow(n, false));
      co_await plait::wait_children();
      co_return 1000 * first + 10 * n + errors - (one.done() ? 0 : 100000);
    }
  };
  for (const int workers : {1, 2, 3}) {
    pool p({.workers = workers});
    for (int i = 0; i < 20; ++i) REQUIRE(p.run(helper::parent()) == 25000 + 260 + 5);
  }
}

TEST_CASE("wait_children_blocking does so in a plain function") {
  struct helper {
    static int parent() {
      std::atomic<int> n{0};
      plait::wait_children_blocking();
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(spawn([&n]() -> task<> {
          co_await plait::yield();
          ++n;
        }));
      }
      plait::wait_children_blocking();
      return n;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 20; ++i) REQUIRE(p.spawn(&helper::parent).get() == 20);
  }
}

TEST_CASE("wait_children outside of a task is an error") {
  CHECK_THROWS_AS(plait::wait_children_blocking(), plait::error);
  CHECK_THROWS_AS(plait::wait_children().await_ready(), plait::error);
}

TEST_CASE("yield lets the other tasks of a worker go first, in turns") {
  struct helper {
    static task<> say(std::string& text, char c) {
      for (int i = 0; i < 3; ++i) {
        text += c;
        co_await plait::yield();
      }
    }
    static task<std::string> both() {
      std::string text;
      auto a = spawn(say(text, 'a'));
      auto b = spawn(say(text, 'b'));
      co_await a;
      co_await b;
      co_return text;
    }
  };
  pool p({.workers = 1});
  const auto text = p.run(helper::both());
  CHECK((text == "ababab" || text == "bababa"));
}

TEST_CASE("a task that yields for ever does not keep others from running") {
  pool p({.workers = 1});
  std::atomic<bool> stop{false};
  struct helper {
    static task<> spin(std::atomic<bool>& s) {
      while (!s) co_await plait::yield();
    }
  };
  auto spinner = p.spawn(helper::spin(stop));
  for (int i = 0; i < 20; ++i) REQUIRE(p.spawn(twice, i).get() == 2 * i);  // from outside
  p.spawn([&] { stop = true; }).get();
  spinner.get();
}

TEST_CASE("a task that forks for ever does not keep tasks from outside from running") {
  pool p({.workers = 1});
  std::atomic<bool> stop{false};
  struct helper {
    static task<> leaf() { co_await plait::yield(); }
    static task<> busy(std::atomic<bool>& s) {
      while (!s) {
        auto f = co_await plait::fork(leaf());
        co_await f;
      }
    }
  };
  auto busy = p.spawn(helper::busy(stop));
  for (int i = 0; i < 20; ++i) REQUIRE(p.spawn(twice, i).get() == 2 * i);
  p.spawn([&] { stop = true; }).get();
  busy.get();
}

TEST_CASE("what destructors start at the end of a detached task counts as started by it") {
  static std::atomic<int> ended{0};
  struct starts_at_its_end {
    static task<void> cleanup() {
      for (int i = 0; i < 100; ++i) co_await plait::yield();
      ++ended;
    }
    ~starts_at_its_end() { static_cast<void>(spawn(cleanup())); }
  };
  struct helper {
    static task<void> work(std::shared_ptr<starts_at_its_end>) { co_return; }
    static task<void> root() {
      static_cast<void>(spawn(work(std::make_shared<starts_at_its_end>())));
      co_return;
    }
  };
  pool p({.workers = 1});
  for (int i = 1; i <= 3; ++i) {
    p.run(helper::root());
    CHECK(ended == i);
  }
}

TEST_CASE("two coroutines that a task resumes by hand, deep in its stack, both go on") {
  struct event {
    std::coroutine_handle<> waiting;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) noexcept { waiting = h; }
    void await_resume() const noexcept {}
  };
  struct helper {
    static task<void> nothing() { co_return; }
    static task<void> waits(event& e, int& ended) {
      co_await e;
      co_await nothing();
      ++ended;
    }
    [[gnu::noinline]] static void resume_both(event* events) {
      volatile char deep[200000];
      deep[0] = 1;
      deep[199999] = 1;
      events[0].waiting.resume();
      events[1].waiting.resume();
      deep[5] = deep[0];
    }
    static task<int> root() {
      event events[2];
      int ended = 0;
      auto a = spawn(waits(events[0], ended));
      auto b = spawn(waits(events[1], ended));
      while (!events[0].waiting || !events[1].waiting) co_await plait::yield();
      resume_both(events);
      co_await a;
      co_await b;
      co_return ended;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::root()) == 2);
}

TEST_CASE("values that need an alignment of 32 lie right in frames and results") {
  struct alignas(32) vector {
    double x[4];
  };
  struct helper {
    static bool is_aligned(const vector& v) { return reinterpret_cast<std::uintptr_t>(&v) % 32 == 0; }
    static task<vector> make(int i, bool& aligned) {
      vector v{{static_cast<double>(i), 1, 2, 3}};
      aligned = aligned && is_aligned(v);
      co_await plait::yield();
      aligned = aligned && is_aligned(v);
      co_return v;
    }
    static task<bool> root() {
      bool aligned = true;
      for (int i = 0; i < 300; ++i) {
        const vector a = co_await make(i, aligned);
        auto f = spawn(make(i, aligned));
        const vector b = co_await f;
        aligned = aligned && is_aligned(a) && is_aligned(b) && a.x[0] == i && b.x[3] == 3;
      }
      co_return aligned;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::root()));
}

}  // namespace spawn_cases
