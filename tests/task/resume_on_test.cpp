// SPDX-License-Identifier: BSL-1.0

// Tasks that go on in another pool.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "../support/waiting.hpp"

using plait::fork;
using plait::pool;
using plait::resume_on;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

namespace resume_on_cases {

/// Whether the calling thread is a worker of the pool.
bool in(const pool& p) {
  const auto* w = plait::sched::worker::of_this_thread();
  return w != nullptr && &w->home() == &p;
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}

task<> move_to(pool& p) { co_await resume_on(p); }

TEST_CASE("a task goes on in another pool, and comes back") {
  pool a({.workers = 2}), b({.workers = 1});
  a.run([](pool& home, pool& other) -> task<> {
    CHECK(in(home));
    co_await resume_on(other);
    CHECK(in(other));
    co_await plait::yield();
    CHECK(in(other));
    co_await plait::sleep_for(std::chrono::microseconds(10));
    CHECK(in(other));
    co_await resume_on(home);
    CHECK(in(home));
  }(a, b));
}

TEST_CASE("resume_on to the pool where the task is already does not suspend it") {
  pool a({.workers = 1});
  a.run([](pool& home) -> task<> {
    bool others = false;
    auto f = spawn([&others] { others = true; });
    co_await resume_on(home);
    CHECK_FALSE(others);
    co_await f;
  }(a));
}

TEST_CASE("a helper that is awaited inline takes its caller along") {
  pool a({.workers = 1}), b({.workers = 1});
  a.run([](pool& other) -> task<> {
    co_await move_to(other);
    CHECK(in(other));
  }(b));
}

TEST_CASE("a child that moves leaves its parent where it is") {
  pool a({.workers = 2}), b({.workers = 2});
  a.run([](pool& home, pool& other) -> task<> {
    auto f = co_await fork([](pool& there) -> task<bool> {
      co_await resume_on(there);
      co_return in(there);
    }(other));
    CHECK(in(home));
    const bool moved = co_await f;
    CHECK(moved);
    CHECK(in(home));
    auto g = spawn(move_to(other));
    co_await g;
    CHECK(in(home));
  }(a, b));
}

TEST_CASE("what a task starts after it has moved runs in the pool where it is") {
  pool a({.workers = 1}), b({.workers = 3});
  a.run([](pool& other) -> task<> {
    co_await resume_on(other);
    const long forked = co_await fib(15);
    CHECK(forked == 610);
    CHECK(in(other));
    const bool spawned = co_await spawn([&other] { return in(other); });
    CHECK(spawned);
    auto joined = co_await plait::when_all(fib(10), fib(11));
    CHECK(std::get<0>(joined) + std::get<1>(joined) == 144);
    CHECK(in(other));
  }(b));
}

TEST_CASE("run waits for what was started in another pool after a move") {
  pool a({.workers = 1}), b({.workers = 2});
  std::atomic<int> ended{0};
  a.run([](pool& other, std::atomic<int>& count) -> task<> {
    co_await resume_on(other);
    for (int i = 0; i < 20; ++i) {
      static_cast<void>(spawn([](std::atomic<int>& n) -> task<> {
        co_await plait::sleep_for(std::chrono::microseconds(50));
        static_cast<void>(spawn([&n] { ++n; }));
      }(count)));
    }
  }(b, ended));
  CHECK(ended == 20);
}

TEST_CASE("wait_children waits for children in all pools where the task has been") {
  pool a({.workers = 1}), b({.workers = 1});
  std::atomic<int> ended{0};
  a.run([](pool& home, pool& other, std::atomic<int>& count) -> task<> {
    const auto child = [](std::atomic<int>& n) -> task<> {
      co_await plait::sleep_for(std::chrono::microseconds(200));
      ++n;
    };
    static_cast<void>(spawn(child(count)));
    co_await resume_on(other);
    static_cast<void>(spawn(child(count)));
    co_await plait::wait_children();
    CHECK(count == 2);
    CHECK(in(other));
    static_cast<void>(spawn(child(count)));
    co_await resume_on(home);
    plait::wait_children_blocking();
    CHECK(count == 3);
  }(a, b, ended));
}

TEST_CASE("results, references, nothing, and exceptions come back from a task that has moved") {
  pool a({.workers = 1}), b({.workers = 1});
  int x = 5;
  auto owned = a.run([](pool& other) -> task<std::unique_ptr<int>> {
    co_await resume_on(other);
    co_return std::make_unique<int>(3);
  }(b));
  CHECK(*owned == 3);
  int& same = a.run([](pool& other, int& target) -> task<int&> {
    co_await resume_on(other);
    co_return target;
  }(b, x));
  CHECK(&same == &x);
  a.run(move_to(b));
  CHECK_THROWS_WITH_AS(a.run([](pool& other) -> task<> {
    co_await resume_on(other);
    throw std::runtime_error("over there");
  }(b)),
                       "over there", std::runtime_error);
}

TEST_CASE("a pool that a task has made for itself can end when the task has left it") {
  pool a({.workers = 2});
  const long result = a.run([](pool& home) -> task<long> {
    long sum = 0;
    for (int i = 0; i < 20; ++i) {
      pool own({.workers = 2});
      co_await resume_on(own);
      sum += co_await fib(8);
      co_await resume_on(home);
    }
    co_return sum;
  }(a));
  CHECK(result == 20 * 21);
}

TEST_CASE("the end of a pool waits for the tasks that are there as guests, and for what they have spawned there") {
  pool a({.workers = 1});
  std::atomic<int> ended{0};
  for (int i = 0; i < 20; ++i) {
    plait::future<> f;
    std::atomic<bool> there{false};
    {
      pool b({.workers = 2});
      f = a.spawn([](pool& home, pool& other, std::atomic<bool>& arrived, std::atomic<int>& count) -> task<> {
        co_await resume_on(other);
        static_cast<void>(spawn([](std::atomic<int>& n) -> task<> {
          for (int k = 0; k < 20; ++k) co_await plait::yield();
          static_cast<void>(spawn([&n] { ++n; }));
        }(count)));
        arrived = true;
        for (int k = 0; k < 10; ++k) co_await plait::yield();
        co_await resume_on(home);
      }(a, b, there, ended));
      wait_until([&there] { return there.load(); }, "the guest");
    }
    f.get();
  }
  CHECK(ended == 20);
}

TEST_CASE("a guest that ends in another pool does not keep its own pool from ending") {
  pool b({.workers = 1});
  std::atomic<int> ended{0};
  for (int i = 0; i < 50; ++i) {
    pool a({.workers = 1});
    static_cast<void>(a.spawn([](pool& other, std::atomic<int>& count) -> task<> {
      co_await resume_on(other);
      static_cast<void>(spawn([&count] { ++count; }));
    }(b, ended)));
  }
  CHECK(ended == 50);
}

TEST_CASE("a guest comes back to its own pool while that is ending") {
  pool b({.workers = 1});
  std::atomic<bool> there{false}, may_go{false}, back{false};
  std::thread releaser;
  {
    pool a({.workers = 1});
    static_cast<void>(a.spawn([](pool& home, pool& other, std::atomic<bool>& arrived, std::atomic<bool>& go,
                                 std::atomic<bool>& done) -> task<> {
      co_await resume_on(other);
      arrived = true;
      while (!go) co_await plait::yield();
      co_await resume_on(home);
      done = in(home);
    }(a, b, there, may_go, back)));
    wait_until([&there] { return there.load(); }, "the guest");
    releaser = std::thread([&may_go] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // most often the pool is ending then
      may_go = true;
    });
  }
  releaser.join();
  CHECK(back);
}

TEST_CASE("a pool that is ending takes no more guests") {
  pool a({.workers = 1});
  std::optional<pool> b(std::in_place, plait::pool_options{.workers = 1});
  std::atomic<bool> started{false}, refused{false};
  auto keeps_it = b->spawn([](std::atomic<bool>& flag, std::atomic<bool>& until) -> task<> {
    flag = true;
    while (!until) co_await plait::yield();
  }(started, refused));
  wait_until([&started] { return started.load(); }, "the other pool");
  auto& ending = *b;
  std::thread ender([&b] { b.reset(); });
  wait_until(
      [&] {
        try {
          ending.spawn([] {}).get();
          return false;
        } catch (const plait::error&) {
          return true;
        }
      },
      "the pool to begin its end");
  a.run([](pool& other, pool& home, std::atomic<bool>& flag) -> task<> {
    try {
      co_await resume_on(other);
    } catch (const plait::error&) {
      flag = in(home);
    }
  }(ending, a, refused));
  ender.join();
  CHECK(refused);
  keeps_it.get();
}

TEST_CASE("a guest that sleeps in a pool which ends goes on there with cancelled_error") {
  pool a({.workers = 1});
  std::atomic<bool> there{false};
  plait::future<bool> f;
  {
    pool b({.workers = 1});
    f = a.spawn([](pool& home, pool& other, std::atomic<bool>& arrived) -> task<bool> {
      co_await resume_on(other);
      arrived = true;
      bool cancelled = false;
      try {
        co_await plait::sleep_for(std::chrono::hours(1));
      } catch (const plait::cancelled_error&) {
        cancelled = true;
      }
      co_await resume_on(home);
      co_return cancelled;
    }(a, b, there));
    wait_until([&there] { return there.load(); }, "the guest");
  }
  CHECK(f.get());
}

TEST_CASE("a blocking wait of a guest helps the pool where it is") {
  pool a({.workers = 1}), b({.workers = 1});
  const int sum = a.run([](pool& home, pool& other) -> task<int> {
    auto here = spawn([] { return 1; });
    co_await resume_on(other);
    auto there = spawn([] { return 2; });
    auto back = home.spawn([] { return 4; });
    co_return there.get() + here.get() + back.get();  // the only worker of the pool runs the second one itself
  }(a, b));
  CHECK(sum == 7);
}

TEST_CASE("a fork that moved, and is dropped, is waited for") {
  pool a({.workers = 1}), b({.workers = 1});
  std::atomic<bool> ended{false};
  a.run([](pool& other, std::atomic<bool>& flag) -> task<> {
    int local = 0;
    {
      const auto f = co_await fork([](pool& there, int& target, std::atomic<bool>& done) -> task<> {
        co_await resume_on(there);
        while (!plait::this_task::cancelled()) co_await plait::yield();
        target = 1;
        done = true;
      }(other, local, flag));
    }
    CHECK(local == 1);
  }(b, ended));
  CHECK(ended);
}

TEST_CASE("a request to stop reaches a task in another pool, where it is and where it has forked") {
  pool a({.workers = 1}), b({.workers = 2});
  std::atomic<int> ended{0};
  std::atomic<bool> there{false};
  auto f = a.spawn([](pool& other, std::atomic<int>& count, std::atomic<bool>& arrived) -> task<> {
    co_await resume_on(other);
    auto child = co_await fork([](std::atomic<int>& n, std::atomic<bool>& flag) -> task<> {
      flag = true;
      while (!plait::this_task::cancelled()) co_await plait::yield();
      ++n;
    }(count, arrived));
    try {
      co_await plait::sleep_for(std::chrono::hours(1));
    } catch (const plait::cancelled_error&) {
      ++count;
    }
    co_await child;
  }(b, ended, there));
  wait_until([&there] { return there.load(); }, "the child");
  CHECK_FALSE(f.cancel());
  f.get();
  CHECK(ended == 2);
}

TEST_CASE("resume_on is no place where a request to stop is seen") {
  pool a({.workers = 1}), b({.workers = 1});
  std::atomic<bool> started{false};
  auto f = a.spawn([](pool& other, std::atomic<bool>& flag) -> task<bool> {
    flag = true;
    while (!plait::this_task::cancelled()) co_await plait::yield();
    co_await resume_on(other);
    co_return in(other);
  }(b, started));
  wait_until([&started] { return started.load(); }, "the task");
  f.cancel();
  CHECK(f.get());
}

TEST_CASE("resume_on outside of a task of a pool is an error") {
  pool p({.workers = 1});
  bool refused = false;
  [](pool& where, bool& flag) -> plait::detail::relay {  // a coroutine of its own, in no pool
    try {
      co_await resume_on(where);
    } catch (const plait::error&) {
      flag = true;
    }
  }(p, refused)
                                     .handle()
                                     .resume();
  CHECK(refused);
}

TEST_CASE("many tasks move between pools at once") {
  pool a({.workers = 2}), b({.workers = 2}), c({.workers = 1});
  std::atomic<int> hops{0};
  a.run([](pool& x, pool& y, pool& z, std::atomic<int>& count) -> task<> {
    std::vector<plait::future<>> all;
    for (int i = 0; i < 200; ++i) {
      all.push_back(spawn([](pool& p, pool& q, pool& r, std::atomic<int>& n) -> task<> {
        for (int k = 0; k < 5; ++k) {
          co_await resume_on(q);
          auto f = co_await fork(move_to(r));
          static_cast<void>(spawn(move_to(p)));
          co_await resume_on(r);
          co_await f;
          co_await resume_on(p);
          n += 3;
        }
      }(x, y, z, count)));
    }
    co_await plait::when_all(std::move(all));
    co_await plait::wait_children();
  }(a, b, c, hops));
  CHECK(hops == 3000);
}

TEST_CASE("a blocking call of a guest is made by the pool where it is, and the guest goes on there") {
  pool a({.workers = 1}), b({.workers = 1});
  a.run([](pool& other) -> task<> {
    co_await resume_on(other);
    co_await plait::blocking([] {});
    CHECK(in(other));
    CHECK(plait::detail::blocking_threads<>::of(other).count() == 1);
  }(b));
}

}  // namespace resume_on_cases
