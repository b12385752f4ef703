// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

using plait::async_semaphore;
using plait::cancelled_error;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

TEST_CASE("no more tasks than permits are inside") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    const int most = p.run([]() -> task<int> {
      async_semaphore permits(3);
      std::atomic<int> inside{0};
      std::atomic<int> highest{0};
      std::vector<future<void>> all;
      for (int i = 0; i < 30; ++i) {
        all.push_back(spawn([&]() -> task<void> {
          for (int turn = 0; turn < 50; ++turn) {
            co_await permits.acquire();
            const int now = inside.fetch_add(1) + 1;
            for (int h = highest.load(); now > h && !highest.compare_exchange_weak(h, now);) {
            }
            co_await plait::yield();
            inside.fetch_sub(1);
            permits.release();
          }
        }));
      }
      co_await plait::when_all(std::move(all));
      CHECK(permits.try_acquire(3));
      CHECK(!permits.try_acquire());
      CHECK(permits.try_acquire(0));
      co_return highest.load();
    }());
    CHECK(most <= 3);
    if (workers == 1) CHECK(most == 3);  // each lets the others go on while it is inside
  }
}

TEST_CASE("one that wants many permits is not overtaken, and those behind it go on when it is asked to stop") {
  pool p({.workers = 1});
  async_semaphore permits(2);
  std::atomic<int> there{0};
  std::atomic<int> through{0};
  const auto acquire = [&](std::ptrdiff_t n) -> task<void> {
    there.fetch_add(1);
    co_await permits.acquire(n);
    through.fetch_add(1);
  };
  auto many = p.spawn(acquire(5));
  wait_until([&] { return there.load() == 1; }, "the first to wait");
  auto one = p.spawn(acquire(1));
  auto other = p.spawn(acquire(1));
  wait_until([&] { return there.load() == 3; }, "the others to wait");
  CHECK(!permits.try_acquire(1));
  CHECK(through.load() == 0);
  CHECK(!many.cancel());
  CHECK_THROWS_AS(many.get(), cancelled_error);
  one.get();
  other.get();
  CHECK(!permits.try_acquire(1));
}

TEST_CASE("a release wakes as many as it has permits for, in order, from any thread") {
  pool p({.workers = 1});  // which starts a task only when the one before has got into the queue
  async_semaphore permits(0);
  std::atomic<int> there{0};
  std::vector<future<void>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(p.spawn([&, i]() -> task<void> {
      there.fetch_add(1);
      co_await permits.acquire(i + 1);
    }));
    wait_until([&] { return there.load() == i + 1; }, "the next to wait");
  }
  permits.release(3);  // for the first two
  all[0].get();
  all[1].get();
  CHECK(!all[2].done());
  permits.release(6);
  all[2].get();
  CHECK(!all[3].done());
  permits.release(1);
  all[3].get();
}

TEST_CASE("negative numbers, and more permits than can be counted, are errors") {
  CHECK_THROWS_AS(async_semaphore(-1), plait::error);
  async_semaphore permits(1);
  CHECK_THROWS_AS(permits.release(-1), plait::error);
  CHECK_THROWS_AS(permits.try_acquire(-1), plait::error);
  CHECK_THROWS_AS(permits.release(std::numeric_limits<std::ptrdiff_t>::max()), plait::error);
  plait::sync_wait([](async_semaphore& s) -> task<void> {
    try {
      co_await s.acquire(-1);
      FAIL_CHECK("nothing was thrown");
    } catch (const plait::error&) {
    }
  }(permits));
  CHECK(permits.try_acquire());
}

TEST_CASE("permits beside requests to stop: none is lost, none appears") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 1000; ++turn) {
    async_semaphore permits(3);
    std::atomic<int> held{0};
    std::vector<future<void>> all;
    for (int i = 0; i < 5; ++i) {
      all.push_back(p.spawn([&, i]() -> task<void> {
        const int n = i % 3 + 1;
        for (int again = 0; again < 5; ++again) {
          co_await permits.acquire(n);
          if (held.fetch_add(n) + n > 3) FAIL_CHECK("too many");
          if (again % 2 == 0) co_await plait::yield();
          held.fetch_sub(n);
          permits.release(n);
        }
      }));
    }
    if (turn % 2 == 0) std::this_thread::yield();
    all[0].cancel();
    all[2].cancel();
    all[4].cancel();
    for (auto& f : all) f.wait();
    all[1].get();
    all[3].get();
    REQUIRE(permits.try_acquire(3));
    REQUIRE(!permits.try_acquire());
  }
}

TEST_CASE("the end of a pool ends waits for permits with cancelled_error; permits stay for others") {
  async_semaphore permits(0);
  std::atomic<int> cancelled{0};
  std::atomic<int> there{0};
  {
    pool p({.workers = 2});
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(p.spawn([&, i]() -> task<void> {
        there.fetch_add(1);
        try {
          co_await permits.acquire(i + 1);
        } catch (const cancelled_error&) {
          cancelled.fetch_add(1);
        }
      }));
    }
    wait_until([&] { return there.load() == 10; }, "all to wait");
  }
  CHECK(cancelled.load() == 10);
  permits.release(2);
  CHECK(permits.try_acquire(2));
}
