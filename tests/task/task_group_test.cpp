// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;
using plait::pool;
using plait::task;
using plait::task_group;

namespace task_group_cases {

task<void> count(std::atomic<int>& n) {
  co_await plait::yield();
  n.fetch_add(1);
}
task<int> fails(int n) {
  co_await plait::yield();
  throw std::runtime_error("task " + std::to_string(n));
}
task<void> until_stopped(std::atomic<int>& started, std::atomic<int>& stopped) {
  started.fetch_add(1);
  while (!plait::this_task::cancelled()) co_await plait::yield();
  stopped.fetch_add(1);
}

TEST_CASE("a group joins all that was forked and spawned in it, and can be used again") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    std::atomic<int> n{0};
    p.run([](std::atomic<int>& c) -> task<void> {
      task_group g;
      for (int round = 1; round <= 3; ++round) {
        for (int i = 0; i < 100; ++i) {
          g.spawn(count(c));
          co_await g.fork(count(c));
          g.spawn([&c] { c.fetch_add(1); });
        }
        co_await g.join();
        CHECK(c.load() == 300 * round);
      }
    }(n));
  }
}

TEST_CASE("join rethrows the exception of the task that was added first of those that threw, after all have ended") {
  pool p({.workers = 2});
  std::atomic<int> n{0};
  const std::string text = p.run([](std::atomic<int>& c) -> task<std::string> {
    task_group g;
    g.spawn(count(c));
    g.spawn(fails(1));
    co_await g.fork(fails(2));
    g.spawn(count(c));
    std::string what;
    try {
      co_await g.join();
    } catch (const std::runtime_error& e) {
      what = e.what();
    }
    CHECK(c.load() == 2);
    co_await g.join();  // nothing is left
    co_return what;
  }(n));
  CHECK(text == "task 1");
}

TEST_CASE("tasks of a group may add others to it, which join waits for") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> n{0};
    struct tree {
      static task<void> grow(task_group& g, std::atomic<int>& c, int depth) {
        c.fetch_add(1);
        if (depth == 0) co_return;
        g.spawn(grow(g, c, depth - 1));
        g.spawn(grow(g, c, depth - 1));
      }
    };
    p.run([](std::atomic<int>& c) -> task<void> {
      task_group g;
      g.spawn(tree::grow(g, c, 8));
      co_await g.join();
    }(n));
    CHECK(n.load() == 511);
  }
}

TEST_CASE("a group that ends without join asks its tasks to stop and waits for them") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> started{0};
    std::atomic<int> stopped{0};
    p.run([](std::atomic<int>& begun, std::atomic<int>& ended) -> task<void> {
      {
        auto on_heap = std::make_unique<int>(1);
        task_group g;
        co_await g.fork(until_stopped(begun, ended));
        g.spawn(until_stopped(begun, ended));
        g.spawn([](int& value) -> task<void> {
          co_await plait::yield();
          value = 2;
        }(*on_heap));
        while (begun.load() == 0) co_await plait::yield();
      }
      CHECK(begun.load() == ended.load());
      CHECK(!plait::this_task::cancelled());
    }(started, stopped));
  }
}

TEST_CASE("an exception unwinds through a group only after its tasks have ended") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  CHECK_THROWS_WITH(p.run([](std::atomic<int>& begun, std::atomic<int>& ended) -> task<void> {
    task_group g;
    co_await g.fork(until_stopped(begun, ended));
    throw std::runtime_error("on the way");
  }(started, stopped)),
                    "on the way");
  CHECK(started.load() == stopped.load());
}

TEST_CASE("request_stop reaches the tasks of a group, and those that are added before join") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  p.run([](std::atomic<int>& begun, std::atomic<int>& ended) -> task<void> {
    task_group g;
    co_await g.fork(until_stopped(begun, ended));
    g.request_stop();
    co_await g.fork(until_stopped(begun, ended));
    co_await g.join();
    CHECK(ended.load() == 2);
    std::atomic<int> n{0};
    g.spawn(count(n));
    co_await g.join();
    CHECK(n.load() == 1);
  }(started, stopped));
}

TEST_CASE("a request to stop the task that spawns in a group reaches the spawned tasks") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  auto f = p.spawn([](std::atomic<int>& begun, std::atomic<int>& ended) -> task<void> {
    task_group g;
    g.spawn(until_stopped(begun, ended));
    g.spawn(until_stopped(begun, ended));
    co_await g.join();
  }(started, stopped));
  plait_test::wait_until([&] { return started.load() == 2; }, "the group's tasks to start");
  CHECK(!f.cancel());
  f.get();
  CHECK(stopped.load() == 2);
}

TEST_CASE("a group that lives long keeps no more than what runs") {
  pool p({.workers = 1});
  std::atomic<int> n{0};
  p.run([](std::atomic<int>& c) -> task<void> {
    task_group g;
    for (int i = 0; i < 100'000; ++i) {
      g.spawn([&c] { c.fetch_add(1); });
      if (i % 64 == 0) co_await plait::yield();
    }
    co_await g.join();
  }(n));
  CHECK(n.load() == 100'000);
}

TEST_CASE("a stop callback of a task in a group may add to the group and ask it to stop again") {
  pool p({.workers = 2});
  std::atomic<int> n{0};
  p.run([](std::atomic<int>& c) -> task<void> {
    task_group g;
    std::atomic<bool> ready{false};
    g.spawn([&]() -> task<void> {
      const std::stop_callback more(plait::this_task::stop_token(), [&] {
        for (int i = 0; i < 100; ++i) g.spawn(count(c));
        g.request_stop();
      });
      ready = true;
      while (!plait::this_task::cancelled()) co_await plait::yield();
    });
    while (!ready.load()) co_await plait::yield();
    g.request_stop();
    try {
      co_await g.join();
    } catch (const plait::cancelled_error&) {  // those that had not started
    }
  }(n));
  CHECK(n.load() <= 100);
}

TEST_CASE("tasks that were forked in a group may be the first to spawn in it, several at once") {
  pool p({.workers = 4});
  for (int turn = 0; turn < 50; ++turn) {
    std::atomic<int> n{0};
    p.run([](std::atomic<int>& c) -> task<void> {
      task_group g;
      for (int i = 0; i < 8; ++i) {
        co_await g.fork([](task_group& group, std::atomic<int>& k) -> task<void> {
          co_await plait::yield();
          group.spawn(count(k));
        }(g, c));
      }
      co_await g.join();
    }(n));
    REQUIRE(n.load() == 8);
  }
}

TEST_CASE("a task that was asked to stop spawns no endless tasks in a group that it has joined once") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
  auto f = p.spawn([](std::atomic<int>& begun, std::atomic<int>& ended) -> task<void> {
    task_group g;
    g.spawn(until_stopped(begun, ended));
    co_await g.join();
    co_await g.fork(until_stopped(begun, ended));
    co_await g.join();
  }(started, stopped));
  plait_test::wait_until([&] { return started.load() == 1; }, "the first task to start");
  CHECK(!f.cancel());
  f.get();
  CHECK(stopped.load() == 2);
}

}  // namespace task_group_cases
