// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using plait::async_mutex;
using plait::cancelled_error;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

TEST_CASE("one task at a time holds the mutex, also across suspensions") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    const int sum = p.run([]() -> task<int> {
      async_mutex mutex;
      int count = 0;
      int inside = 0;
      std::vector<future<void>> all;
      for (int i = 0; i < 20; ++i) {
        all.push_back(spawn([&, i]() -> task<void> {
          for (int turn = 0; turn < 200; ++turn) {
            if (i % 2 == 0) {
              const auto guard = co_await mutex.scoped_lock();
              if (++inside != 1) FAIL_CHECK("not alone");
              if (turn % 4 == 0) co_await plait::yield();
              ++count;
              --inside;
            } else {
              co_await mutex.lock();
              if (++inside != 1) FAIL_CHECK("not alone");
              ++count;
              --inside;
              mutex.unlock();
            }
          }
        }));
      }
      co_await plait::when_all(std::move(all));
      CHECK(mutex.try_lock());
      mutex.unlock();
      co_return count;
    }());
    CHECK(sum == 4000);
  }
}

TEST_CASE("the mutex is handed over in order of arrival, and nobody overtakes") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    async_mutex mutex;
    std::vector<int> order;
    co_await mutex.lock();
    std::vector<future<void>> all;
    for (int i = 0; i < 5; ++i) {
      bool there = false;
      all.push_back(spawn([&, i]() -> task<void> {
        there = true;
        co_await mutex.lock();
        order.push_back(i);
        mutex.unlock();
      }));
      while (!there) co_await plait::yield();
    }
    mutex.unlock();
    CHECK(!mutex.try_lock());  // it belongs to the first already
    co_await mutex.lock();
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
    mutex.unlock();
    co_await plait::when_all(std::move(all));
  }());
}

TEST_CASE("guards move, unlock early, and unlock when an exception passes") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    async_mutex mutex;
    {
      auto guard = co_await mutex.scoped_lock();
      CHECK(guard.owns_lock());
      CHECK(!mutex.try_lock());
      async_mutex::guard other = std::move(guard);
      other.unlock();
      CHECK(!other.owns_lock());
      CHECK(mutex.try_lock());
      other = async_mutex::guard(mutex);
      other = {};
      CHECK(mutex.try_lock());
      mutex.unlock();
    }
    try {
      const auto guard = co_await mutex.scoped_lock();
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
    }
    CHECK(mutex.try_lock());
    mutex.unlock();
    CHECK_THROWS_AS(mutex.unlock(), plait::error);
  }());
}

TEST_CASE("threads that are no workers try, and unlock for others") {
  pool p({.workers = 2});
  async_mutex mutex;
  REQUIRE(mutex.try_lock());
  std::atomic<bool> there{false};
  auto f = p.spawn([&]() -> task<int> {
    there = true;
    const auto guard = co_await mutex.scoped_lock();
    co_return 7;
  });
  wait_until([&] { return there.load(); }, "the task to wait");
  mutex.unlock();
  CHECK(f.get() == 7);
  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST_CASE("a task that is asked to stop does not get the mutex, and who waits behind it does") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    async_mutex mutex;
    REQUIRE(mutex.try_lock());
    std::atomic<int> there{0};
    auto first = p.spawn([&]() -> task<void> {
      there.fetch_add(1);
      const auto guard = co_await mutex.scoped_lock();
    });
    wait_until([&] { return there.load() == 1; }, "the first to wait");
    auto second = p.spawn([&]() -> task<int> {
      there.fetch_add(1);
      const auto guard = co_await mutex.scoped_lock();
      co_return 2;
    });
    wait_until([&] { return there.load() == 2; }, "the second to wait");
    CHECK(!first.cancel());
    CHECK_THROWS_AS(first.get(), cancelled_error);
    mutex.unlock();
    CHECK(second.get() == 2);
    CHECK(mutex.try_lock());
    mutex.unlock();
  }
}

TEST_CASE("hand-over beside requests to stop: the mutex is neither lost nor held twice") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 1000; ++turn) {
    async_mutex mutex;
    int inside = 0;
    std::atomic<bool> alone{true};
    std::vector<future<void>> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(p.spawn([&]() -> task<void> {
        for (int again = 0; again < 5; ++again) {
          const auto guard = co_await mutex.scoped_lock();
          if (++inside != 1) alone = false;
          if (again % 2 == 0) co_await plait::yield();
          --inside;
        }
      }));
    }
    if (turn % 2 == 0) std::this_thread::yield();
    all[0].cancel();
    all[1].cancel();
    for (auto& f : all) f.wait();
    REQUIRE(alone.load());
    REQUIRE(mutex.try_lock());
    mutex.unlock();
    all[2].get();
    all[3].get();
  }
}

TEST_CASE("the last user may end the object that the mutex is part of") {
  pool p({.workers = 2});
  struct shared {
    async_mutex mutex;
    int users = 0;
  };
  for (int turn = 0; turn < 2000; ++turn) {
    p.run([]() -> task<void> {
      auto* object = new shared;
      object->users = 3;
      const auto use = [](shared* s) -> task<void> {
        co_await s->mutex.lock();
        const bool last = --s->users == 0;
        s->mutex.unlock();
        if (last) delete s;
      };
      auto a = spawn(use(object));
      auto b = spawn(use(object));
      co_await use(object);
      co_await a;
      co_await b;
    }());
  }
}

TEST_CASE("the end of a pool ends waits for a mutex with cancelled_error") {
  async_mutex mutex;
  REQUIRE(mutex.try_lock());
  std::atomic<int> cancelled{0};
  std::atomic<int> there{0};
  {
    pool p({.workers = 2});
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(p.spawn([&]() -> task<void> {
        there.fetch_add(1);
        try {
          co_await mutex.lock();
          mutex.unlock();
        } catch (const cancelled_error&) {
          cancelled.fetch_add(1);
        }
      }));
    }
    wait_until([&] { return there.load() == 10; }, "all to wait");
  }
  CHECK(cancelled.load() == 10);
  mutex.unlock();
}
