// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using plait::async_latch;
using plait::cancelled_error;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

namespace latch_cases {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int crowd = 100'000;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int crowd = 100'000;
#else
constexpr int crowd = 1'000'000;
#endif
#else
constexpr int crowd = 1'000'000;
#endif

/// A coroutine that is not plait's and runs in no pool.
struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

TEST_CASE("tasks that wait at a latch go on when its count is zero, and not before") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    p.run([]() -> task<void> {
      async_latch open(3);
      std::atomic<int> through{0};
      std::vector<future<void>> waiting;
      for (int i = 0; i < 10; ++i) {
        waiting.push_back(spawn([&]() -> task<void> {
          co_await open.wait();
          through.fetch_add(1);
        }));
      }
      open.count_down();
      for (int i = 0; i < 100; ++i) co_await plait::yield();
      CHECK(!open.try_wait());
      CHECK(through.load() == 0);
      open.count_down(2);
      CHECK(open.try_wait());
      co_await open.wait();  // does not suspend
      co_await plait::when_all(std::move(waiting));
      CHECK(through.load() == 10);
    }());
  }
}

TEST_CASE("a latch of zero is open, and arrive_and_wait counts and waits") {
  pool p({.workers = 2});
  p.run([]() -> task<void> {
    async_latch none(0);
    co_await none.wait();
    async_latch all(5);
    std::atomic<int> before{0};
    std::vector<future<void>> tasks;
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(spawn([&]() -> task<void> {
        before.fetch_add(1);
        co_await all.arrive_and_wait();
        CHECK(before.load() == 4);
      }));
    }
    const auto operation = all.arrive_and_wait(1);  // arrives when it is awaited
    for (int i = 0; i < 50; ++i) co_await plait::yield();
    CHECK(!all.try_wait());
    co_await operation;
    co_await plait::when_all(std::move(tasks));
  }());
}

TEST_CASE("counts below zero are errors and change nothing") {
  CHECK_THROWS_AS(async_latch(-1), plait::error);
  async_latch latch(2);
  CHECK_THROWS_AS(latch.count_down(3), plait::error);
  CHECK_THROWS_AS(latch.count_down(-1), plait::error);
  plait::sync_wait([](async_latch& l) -> task<void> {
    try {
      co_await l.arrive_and_wait(3);
      FAIL_CHECK("nothing was thrown");
    } catch (const plait::error&) {
    }
  }(latch));
  latch.count_down(2);
  CHECK(latch.try_wait());
}

TEST_CASE("a thread that is no worker counts down, and each waiter goes on in its own pool") {
  pool first({.workers = 1});
  pool second({.workers = 2});
  async_latch open(1);
  std::atomic<int> arrived{0};
  const auto wait_in = [&](pool& home) -> future<bool> {
    return home.spawn([&]() -> task<bool> {
      arrived.fetch_add(1);
      co_await open.wait();
      auto* w = plait::sched::worker::of_this_thread();
      co_return w != nullptr&& & w->home() == &home;
    });
  };
  std::vector<future<bool>> all;
  for (int i = 0; i < 20; ++i) all.push_back(wait_in(i % 2 == 0 ? first : second));
  wait_until([&] { return arrived.load() == 20; }, "all to arrive");
  open.count_down();
  for (auto& f : all) CHECK(f.get());
}

TEST_CASE("a coroutine in no pool goes on where the latch is counted down") {
  async_latch open(1);
  std::thread::id where;
  [](async_latch& l, std::thread::id& id) -> detached {
    co_await l.wait();
    id = std::this_thread::get_id();
  }(open, where);
  CHECK(where == std::thread::id());
  open.count_down();
  CHECK(where == std::this_thread::get_id());
}

TEST_CASE("a request to stop ends the wait at a latch, before it as well; an open latch does not look for one") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    async_latch never(1);
    async_latch open(0);
    std::atomic<bool> there{false};
    auto f = p.spawn([&]() -> task<int> {
      int caught = 0;
      for (int i = 0; i < 3; ++i) {
        there = true;
        try {
          co_await never.wait();
        } catch (const cancelled_error&) {
          ++caught;
        }
      }
      co_await open.wait();
      try {
        co_await never.arrive_and_wait(0);
      } catch (const cancelled_error&) {
        ++caught;
      }
      co_return caught;
    });
    wait_until([&] { return there.load(); }, "the task to wait");
    CHECK(!f.cancel());
    CHECK(f.get() == 4);
  }
}

TEST_CASE("the end of a pool ends waits at a latch with cancelled_error") {
  async_latch never(1);
  std::atomic<int> cancelled{0};
  std::atomic<int> waiting{0};
  {
    pool p({.workers = 2});
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(p.spawn([&]() -> task<void> {
        waiting.fetch_add(1);
        try {
          co_await never.wait();
        } catch (const cancelled_error&) {
          cancelled.fetch_add(1);
        }
      }));
    }
    wait_until([&] { return waiting.load() == 100; }, "all to wait");
  }
  CHECK(cancelled.load() == 100);
}

TEST_CASE("counting down beside requests to stop: each waiter goes on once, in one way or the other") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 1000; ++turn) {
    async_latch open(1);
    std::atomic<int> through{0};
    std::atomic<int> cancelled{0};
    std::vector<future<void>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(p.spawn([&]() -> task<void> {
        try {
          co_await open.wait();
          through.fetch_add(1);
        } catch (const cancelled_error&) {
          cancelled.fetch_add(1);
        }
      }));
    }
    if (turn % 2 == 0) std::this_thread::yield();
    auto counter = p.spawn([&open]() -> task<void> {
      open.count_down();
      co_return;
    });
    int never_started = 0;
    for (auto& f : all) never_started += f.cancel() ? 1 : 0;
    for (auto& f : all) f.wait();
    counter.get();
    REQUIRE(through.load() + cancelled.load() + never_started == 4);
  }
}

TEST_CASE("a latch may end as soon as its waiter has gone on") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 2000; ++turn) {
    p.run([]() -> task<void> {
      auto latch = std::make_unique<async_latch>(1);
      auto f = spawn([&l = *latch]() -> task<void> {
        l.count_down();
        co_return;
      });
      co_await latch->wait();
      latch.reset();
      co_await f;
    }());
  }
}

TEST_CASE("a great crowd of tasks waits at one latch") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    const int through = p.run([]() -> task<int> {
      async_latch open(1);
      async_latch all_there(crowd);
      std::atomic<int> count{0};
      for (int i = 0; i < crowd; ++i) {
        static_cast<void>(spawn([](async_latch& l, async_latch& there, std::atomic<int>& n) -> task<void> {
          there.count_down();
          co_await l.wait();
          n.fetch_add(1, std::memory_order_relaxed);  // only counts
        }(open, all_there, count)));
      }
      co_await all_there.wait();
      open.count_down();
      co_await plait::wait_children();
      co_return count.load();
    }());
    CHECK(through == crowd);
  }
}

}  // namespace latch_cases
