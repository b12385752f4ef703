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
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace future_cases {

int twice(int n) { return 2 * n; }

/// A task that ends when it is told to, without blocking its worker.
struct gate {
  std::atomic<bool> open{false};
  task<int> wait(int result) {
    while (!open) co_await plait::yield();
    co_return result;
  }
};

TEST_CASE("a future knows whether it is valid and whether its task has ended") {
  pool p({.workers = 1});
  gate g;
  future<int> f;
  CHECK_FALSE(f.valid());
  f = p.spawn(g.wait(3));
  CHECK(f.valid());
  CHECK_FALSE(f.done());
  g.open = true;
  f.wait();
  CHECK(f.done());
  CHECK(f.result() == 3);
  CHECK(f.result() == 3);  // stays there
  CHECK(f.exception() == nullptr);
  CHECK(f.get() == 3);  // moves it out
  CHECK_FALSE(f.valid());
}

TEST_CASE("a future knows whether its task has started") {
  pool p({.workers = 1});
  gate g, h;
  auto first = p.spawn([&g] {
    while (!g.open) std::this_thread::yield();
  });
  plait_test::wait_until([&] { return first.running(); }, "the first task to start");
  auto second = p.spawn(h.wait(2));
  CHECK_FALSE(second.running());  // the only worker is busy
  g.open = true;
  plait_test::wait_until([&] { return second.running(); }, "the second task to start");
  h.open = true;
  second.wait();
  CHECK_FALSE(second.running());
  first.wait();
  CHECK_FALSE(first.running());
  struct helper {
    static task<bool> forked(gate& child_gate) {
      auto f = co_await plait::fork(child_gate.wait(1));
      const bool before = f.running();
      bool inside = true;
      f.add_done_callback([&](const future<int>& done) { inside = done.running(); });
      child_gate.open = true;
      f.wait();
      co_return before && !inside && !f.running();
    }
  };
  gate k;
  CHECK(p.run(helper::forked(k)));
  CHECK_THROWS_AS(static_cast<void>(future<int>().running()), plait::error);
}

TEST_CASE("every use of an empty future is an error") {
  future<int> f;
  CHECK_THROWS_AS(f.get(), plait::error);
  CHECK_THROWS_AS(f.wait(), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.wait_for(1ms)), plait::error);
  CHECK_THROWS_AS(f.get_for(1ms), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.done()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.result()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.exception()), plait::error);
  CHECK_THROWS_AS(f.add_done_callback([](const future<int>&) {}), plait::error);
  struct helper {
    static task<> await(future<int>& x) { co_await x; }
  };
  CHECK_THROWS_AS(plait::sync_wait(helper::await(f)), plait::error);
}

TEST_CASE("moving a future moves the handle; self-assignment keeps it") {
  pool p({.workers = 1});
  auto f = p.spawn(twice, 1);
  auto g = std::move(f);
  CHECK_FALSE(f.valid());
  auto& same = g;
  g = std::move(same);
  CHECK(g.valid());
  CHECK(g.get() == 2);
}

TEST_CASE("result and exception of all kinds of results can be looked at") {
  pool p({.workers = 1});
  int x = 5;
  auto r = p.spawn([&x]() -> int& { return x; });
  CHECK(&r.result() == &x);
  CHECK(&r.get() == &x);
  auto v = p.spawn([] {});
  v.result();
  CHECK(v.exception() == nullptr);
  v.get();
  auto u = p.spawn([] { return std::make_unique<int>(6); });
  CHECK(*u.result() == 6);
  CHECK(*u.get() == 6);
  auto e = p.spawn([]() -> int { throw std::domain_error("looked at"); });
  CHECK_THROWS_AS(static_cast<void>(e.result()), std::domain_error);
  CHECK_THROWS_AS(std::rethrow_exception(e.exception()), std::domain_error);
  CHECK_THROWS_WITH_AS(e.get(), "looked at", std::domain_error);
  CHECK_FALSE(e.valid());
}

TEST_CASE("wait_for and get_for come back in time and leave the future as it was") {
  pool p({.workers = 1});
  gate g;
  auto f = p.spawn(g.wait(8));
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(f.wait_for(5ms));
  CHECK_FALSE(f.wait_for(0s));
  CHECK_FALSE(f.wait_for(-1h));
  CHECK_THROWS_AS(f.get_for(3ms), plait::timeout_error);
  CHECK(std::chrono::steady_clock::now() - start >= 8ms);
  CHECK(f.valid());
  g.open = true;
  CHECK(f.wait_for(std::chrono::hours::max()));
  CHECK(f.wait_for(0s));
  CHECK(f.get_for(std::chrono::duration<double>(0.001)) == 8);
}

TEST_CASE("wait_for on a worker helps meanwhile, and comes back in time") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    gate g;
    std::atomic<int> helped{0};
    auto f = p.spawn([&] {
      auto never = spawn(g.wait(1));
      auto other = spawn([&] { ++helped; });
      const bool early = never.wait_for(5ms);
      const bool ended = other.wait_for(1h);
      g.open = true;
      return !early && ended && never.get() == 1;
    });
    CHECK(f.get());
    CHECK(helped == 1);
  }
}

TEST_CASE("time-outs that race with the end of the task lose nothing") {
  pool p({.workers = 2});
  for (int i = 0; i < 500; ++i) {
    auto f = p.spawn([i] {
      std::this_thread::sleep_for(std::chrono::microseconds(i % 50));
      return i;
    });
    while (!f.wait_for(std::chrono::microseconds(i % 40))) {
    }
    REQUIRE(f.get() == i);
  }
}

TEST_CASE("several time-outs and a wait on one future, one after another") {
  pool p({.workers = 2});
  gate g;
  auto f = p.spawn(g.wait(4));
  for (int i = 0; i < 10; ++i) CHECK_FALSE(f.wait_for(100us));
  std::thread opener([&] { g.open = true; });
  f.wait();
  CHECK(f.get() == 4);
  opener.join();
}

TEST_CASE("a callback registered before the end runs once, before the future is done to others") {
  pool p({.workers = 1});
  gate g;
  std::atomic<int> calls{0};
  std::atomic<bool> inside{false};
  auto f = p.spawn(g.wait(5));
  f.add_done_callback([&](const future<int>& done) {
    inside = done.done() && done.result() == 5 && done.exception() == nullptr;
    ++calls;
  });
  f.add_done_callback([&](const future<int>&) { ++calls; });
  CHECK(calls == 0);
  g.open = true;
  CHECK(f.get() == 5);
  CHECK(calls == 2);
  CHECK(inside);
}

TEST_CASE("a callback registered after the end runs at once in the calling thread") {
  pool p({.workers = 1});
  auto f = p.spawn(twice, 3);
  f.wait();
  std::thread::id where;
  f.add_done_callback([&](const future<int>& done) {
    where = std::this_thread::get_id();
    CHECK(done.result() == 6);
  });
  CHECK(where == std::this_thread::get_id());
  CHECK(f.get() == 6);
}

TEST_CASE("a callback sees the end of a task whose future was dropped") {
  pool p({.workers = 1});
  gate g;
  std::atomic<int> seen{0};
  {
    auto f = p.spawn(g.wait(7));
    f.add_done_callback([&](const future<int>& done) { seen = done.done() ? done.result() : -1; });
  }
  g.open = true;
  plait_test::wait_until([&] { return seen != 0; }, "the callback");
  CHECK(seen == 7);
}

TEST_CASE("callbacks race with completion and are each run exactly once") {
  pool p({.workers = 2});
  std::atomic<int> calls{0};
  int expected = 0;
  for (int i = 0; i < 3000; ++i) {
    auto f = p.spawn(twice, i);
    for (int k = 0; k <= i % 3; ++k, ++expected) {
      f.add_done_callback([&calls, i](const future<int>& done) { calls += done.result() == 2 * i; });
    }
    if (i % 2 == 0) {
      REQUIRE(f.get() == 2 * i);
    }
  }
  plait_test::wait_until([&] { return calls == expected; }, "all callbacks");
}

TEST_CASE("callbacks on forked children race with completion") {
  struct helper {
    static task<int> child(int i) {
      if (i % 2 == 0) co_await plait::yield();
      co_return i;
    }
    static task<> parent(std::atomic<int>& calls) {
      for (int i = 0; i < 500; ++i) {
        auto f = co_await plait::fork(child(i));
        f.add_done_callback([&calls, i](const future<int>& done) { calls += done.result() == i; });
        if (i % 3 == 0) co_await f;
      }
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> calls{0};
    p.run(helper::parent(calls));
    CHECK(calls == 500);
  }
}

TEST_CASE("callbacks count as work of the task: run returns after them and after what they start") {
  struct helper {
    static task<> slow(std::atomic<int>& n) {
      for (int i = 0; i < 20; ++i) co_await plait::yield();
      ++n;
    }
    static task<> parent(std::atomic<int>& n, bool forked) {
      future<> f;
      if (forked) {
        f = co_await plait::fork(slow(n));
      } else {
        f = spawn(slow(n));
      }
      f.add_done_callback([&n](const future<>&) {
        std::this_thread::sleep_for(100us);
        ++n;
        static_cast<void>(spawn(slow(n)));  // a child of the task that has ended
      });
      co_await plait::yield();
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 100; ++i) {
      std::atomic<int> n{0};
      p.run(helper::parent(n, i % 2 == 0));
      REQUIRE(n == 3);
    }
  }
}

TEST_CASE("the end of a pool waits for what callbacks start") {
  std::atomic<int> n{0};
  for (int i = 0; i < 50; ++i) {
    pool p({.workers = 2});
    auto f = p.spawn([] { std::this_thread::yield(); });
    f.add_done_callback([&](const future<>&) { static_cast<void>(p.spawn([&n] { ++n; })); });
  }
  plait_test::wait_until([&] { return n == 50; }, "all that the callbacks started");
}

TEST_CASE("waiting for its own task in a callback is an error, not a hang") {
  pool p({.workers = 1});
  gate g;
  std::atomic<int> errors{0};
  auto f = p.spawn(g.wait(1));
  f.add_done_callback([&](const future<int>& done) {
    try {
      done.wait();
    } catch (const plait::error&) {
      ++errors;
    }
    try {
      static_cast<void>(done.wait_for(1s));
    } catch (const plait::error&) {
      ++errors;
    }
  });
  g.open = true;
  CHECK(f.get() == 1);
  CHECK(errors == 2);
}

TEST_CASE("a callback can wait for other tasks") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    gate g;
    std::atomic<int> got{0};
    auto f = p.spawn(g.wait(1));
    f.add_done_callback([&](const future<int>&) { got = spawn(twice, 21).get(); });
    g.open = true;
    CHECK(f.get() == 1);
    CHECK(got == 42);
  }
}

TEST_CASE("a task that waits for itself is told so") {
  pool p({.workers = 1});
  future<int> own;
  std::atomic<bool> there{false};
  struct helper {
    static task<int> wait(future<int>& f, std::atomic<bool>& set) {
      while (!set) co_await plait::yield();
      try {
        f.wait();
      } catch (const plait::error&) {
        co_return 1;
      }
      co_return 0;
    }
  };
  own = p.spawn(helper::wait(own, there));
  there = true;
  auto& same = own;
  plait_test::wait_until([&] { return same.done(); }, "the task");
  CHECK(own.get() == 1);
}

TEST_CASE("one coroutine and callbacks can observe one future, in any order of arrival") {
  struct helper {
    static task<int> use(gate& g, std::atomic<int>& calls, bool callback_first) {
      auto f = spawn(g.wait(2));
      if (callback_first) f.add_done_callback([&](const future<int>&) { ++calls; });
      auto opener = spawn([&g] { g.open = true; });
      if (!callback_first) {
        CHECK_FALSE(f.wait_for(0s));
        f.add_done_callback([&](const future<int>&) { ++calls; });
      }
      const int got = co_await f;
      co_await opener;
      co_return got;
    }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 100; ++i) {
    gate g;
    std::atomic<int> calls{0};
    REQUIRE(p.run(helper::use(g, calls, i % 2 == 0)) == 2);
    REQUIRE(calls == 1);
  }
}

TEST_CASE("get on the thread of a worker that is none of the task's pool helps its own pool") {
  pool a({.workers = 1}), b({.workers = 1});
  std::atomic<bool> helped{false};
  auto f = a.spawn([&] {
    static_cast<void>(spawn([&] { helped = true; }));  // in pool a, whose only worker waits below
    return b
        .spawn([&] {
          while (!helped) std::this_thread::sleep_for(100us);
          return 5;
        })
        .get();
  });
  CHECK(f.get() == 5);
}

TEST_CASE("a queued task of another pool runs on that pool's workers, also when a worker waits for it") {
  pool a({.workers = 1}), b({.workers = 1});
  for (int i = 0; i < 100; ++i) {
    const bool right = a.spawn([&] {
                          return b.spawn([&b] { return &plait::sched::worker::of_this_thread()->home() == &b; }).get();
                        }).get();
    REQUIRE(right);
  }
}

}  // namespace future_cases
