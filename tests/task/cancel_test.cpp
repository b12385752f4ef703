// SPDX-License-Identifier: BSL-1.0

// Requests to stop: whom they reach, and what becomes of tasks that never started.

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using plait::cancelled_error;
using plait::fork;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

namespace cancel_cases {

/// Runs until it is asked to stop.
task<int> until_stopped(std::atomic<int>& started) {
  started.fetch_add(1);
  while (!plait::this_task::cancelled()) co_await plait::yield();
  co_return 1;
}
task<int> fork_until_stopped(std::atomic<int>& started, int depth) {
  if (depth == 0) co_return co_await until_stopped(started);
  auto child = co_await fork(fork_until_stopped(started, depth - 1));
  auto other = co_await fork(until_stopped(started));
  const int sum = co_await child;
  co_return sum + co_await other;
}
task<void> sleep_long() { co_await plait::sleep_for(1h); }

/// What nobody observed, while it lives.
class unobserved {
 public:
  unobserved()
      : before_(plait::set_unobserved_exception_handler([this](std::exception_ptr, std::string_view) { ++count; })) {}
  ~unobserved() { plait::set_unobserved_exception_handler(before_); }
  std::atomic<int> count{0};

 private:
  plait::unobserved_exception_handler before_;
};

TEST_CASE("a queued task that is cancelled never runs; its future is done with cancelled_error at once") {
  pool p({.workers = 1});
  std::atomic<bool> ran{false};
  std::atomic<bool> called_back{false};
  p.run([](std::atomic<bool>& flag, std::atomic<bool>& called) -> task<void> {
    auto f = spawn([&flag]() -> task<int> {
      flag = true;
      co_return 1;
    });
    f.add_done_callback([&called](const future<int>& done) { called = done.done() && done.cancelled(); });
    CHECK(!f.done());
    CHECK(f.cancel());
    CHECK(called.load());
    CHECK(f.done());
    CHECK(f.cancelled());
    CHECK(!f.cancel());
    CHECK_THROWS_AS(f.result(), cancelled_error);
    try {
      co_await f;
      FAIL("nothing was thrown");
    } catch (const cancelled_error&) {
    }
  }(ran, called_back));
  CHECK(!ran.load());
}

TEST_CASE("a task that waits for one that is cancelled before its start is resumed") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    const bool thrown = p.run([]() -> task<bool> {
      std::atomic<bool> waiting{false};
      auto victim = spawn([]() -> task<void> { co_return; });
      auto waiter = spawn([&victim, &waiting]() -> task<bool> {
        waiting = true;
        try {
          co_await victim;
        } catch (const cancelled_error&) {
          co_return true;
        }
        co_return false;
      });
      const bool cancelled = victim.valid() && victim.cancel();
      const bool thrown_there = co_await waiter;
      co_return thrown_there || !cancelled;  // with two workers it may have run
    }());
    CHECK(thrown);
  }
}

TEST_CASE("a running task sees the request by its token and by cancelled, and cancel says false") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  auto f = p.spawn(until_stopped(started));
  wait_until([&] { return started.load() == 1; }, "the task to start");
  CHECK(!f.cancel());
  CHECK(f.get() == 1);

  std::atomic<bool> told{false};
  std::atomic<bool> ready{false};
  auto g = p.spawn([](std::atomic<bool>& tell, std::atomic<bool>& go) -> task<void> {
    const auto token = plait::this_task::stop_token();
    CHECK(token.stop_possible());
    CHECK(!token.stop_requested());
    const std::stop_callback callback(token, [&tell] { tell = true; });
    go = true;
    while (!token.stop_requested()) co_await plait::yield();
    CHECK(plait::this_task::cancelled());
    CHECK(plait::this_task::stop_token().stop_requested());
  }(told, ready));
  wait_until([&] { return ready.load(); }, "the task to ask for its token");
  CHECK(!g.cancel());
  g.get();
  CHECK(told.load());
}

TEST_CASE("forked tasks inherit the request of the task that forked them, to any depth") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    std::atomic<int> started{0};
    auto f = p.spawn(fork_until_stopped(started, 20));
    wait_until([&] { return started.load() > workers / 2; }, "some of the forked tasks to start");
    CHECK(!f.cancel());
    CHECK(f.get() == 21);
    CHECK(started.load() == 21);
  }
}

TEST_CASE("spawned tasks do not inherit a request, and inline awaited ones share their caller's token") {
  pool p({.workers = 2});
  std::atomic<int> phase{0};
  auto f = p.spawn([](std::atomic<int>& at) -> task<void> {
    auto child = spawn([&at]() -> task<bool> {
      while (at.load() < 2) co_await plait::yield();
      co_return plait::this_task::cancelled();
    });
    at = 1;
    const auto inline_token = co_await []() -> task<std::stop_token> { co_return plait::this_task::stop_token(); }();
    while (!inline_token.stop_requested()) co_await plait::yield();
    at = 2;
    CHECK(!co_await child);
  }(phase));
  wait_until([&] { return phase.load() == 1; }, "the task to run");
  CHECK(!f.cancel());
  f.get();
}

TEST_CASE("a fork's future that is dropped asks its child to stop and waits for it") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> started{0};
    const bool stopped = p.run([](std::atomic<int>& count) -> task<bool> {
      bool ended = false;
      {
        auto child = co_await fork([](std::atomic<int>& c, bool& flag) -> task<void> {
          co_await until_stopped(c);
          flag = true;
        }(count, ended));
      }
      CHECK(!plait::this_task::cancelled());
      co_return ended;
    }(started));
    CHECK(stopped);
  }
}

TEST_CASE("a request wakes a task that sleeps, wherever in the tree of forks it is, with cancelled_error") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> asleep{0};
    auto f = p.spawn([](std::atomic<int>& count) -> task<int> {
      std::vector<future<void>> children;
      for (int i = 0; i < 10; ++i) {
        children.push_back(co_await fork([&count]() -> task<void> {
          count.fetch_add(1);
          co_await sleep_long();
        }));
      }
      int cancelled = 0;
      for (auto& c : children) {
        try {
          co_await c;
        } catch (const cancelled_error&) {
          ++cancelled;
        }
      }
      co_return cancelled;
    }(asleep));
    wait_until([&] { return asleep.load() == 10; }, "the children to sleep");
    CHECK(!f.cancel());
    CHECK(f.get() == 10);
  }
}

TEST_CASE("after a request each further sleep fails at once, and a cancelled_error of it is not reported") {
  unobserved reported;
  {
    pool p({.workers = 1});
    std::atomic<int> caught{0};
    std::atomic<bool> started{false};
    auto f = p.spawn([](std::atomic<int>& count, std::atomic<bool>& go) -> task<void> {
      go = true;
      for (int i = 0; i < 3; ++i) {
        try {
          co_await plait::sleep_for(1h);
        } catch (const cancelled_error&) {
          count.fetch_add(1);
        }
      }
      co_await plait::sleep_for(1h);
    }(caught, started));
    wait_until([&] { return started.load(); }, "the task to start");
    CHECK(!f.cancel());
    f.wait();
    CHECK(caught.load() == 3);
    f = {};
  }
  CHECK(reported.count.load() == 0);
}

TEST_CASE("a request from a done callback, or for an ended task, does no harm") {
  pool p({.workers = 2});
  auto f = p.spawn([]() -> task<int> { co_return 1; });
  f.wait();
  CHECK(!f.cancel());
  CHECK(!f.cancelled());
  CHECK(f.get() == 1);
}

TEST_CASE("cancelling beside the end of a task: each task either ran or was cancelled, never both") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 2000; ++turn) {
    std::atomic<int> ran{0};
    auto f = p.spawn([](std::atomic<int>& count) -> task<void> {
      count.fetch_add(1);
      if (plait::this_task::cancelled()) count.fetch_add(100);
      co_return;
    }(ran));
    if (turn % 3 == 0) std::this_thread::yield();
    const bool cancelled = f.cancel();
    f.wait();
    CHECK(f.cancelled() == cancelled);
    const int count = ran.load() % 100;
    REQUIRE(count == (cancelled ? 0 : 1));
  }
}

TEST_CASE("requests beside forks that start and end, from another thread") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 300; ++turn) {
    std::atomic<int> started{0};
    auto f = p.spawn(fork_until_stopped(started, turn % 7));
    while (started.load() == 0) std::this_thread::yield();
    std::jthread other([&f] { f.cancel(); });
    other.join();
    REQUIRE(f.get() == turn % 7 + 1);
  }
}

TEST_CASE("a request that reaches a deep chain of forks takes no stack for its depth") {
  pool p({.workers = 1});
  constexpr int depth = 100'000;
  struct chain {
    static task<int> down(int n, std::atomic<bool>& there) {
      if (n == 0) {
        static_cast<void>(plait::this_task::cancelled());  // joins all to the tree
        there = true;
        try {
          co_await plait::sleep_for(1h);
        } catch (const cancelled_error&) {
        }
        co_return 0;
      }
      auto f = co_await fork(down(n - 1, there));
      co_return 1 + co_await f;
    }
  };
  std::atomic<bool> there{false};
  auto f = p.spawn(chain::down(depth, there));
  wait_until([&] { return there.load(); }, "the bottom of the chain");
  CHECK(!f.cancel());
  CHECK(f.get() == depth);
}

TEST_CASE("yield, fork and the await of a future are no places where a request to stop is seen") {
  pool p({.workers = 2});
  std::atomic<int> started{0};
  auto f = p.spawn([](std::atomic<int>& flag) -> task<int> {
    co_await until_stopped(flag);
    co_await plait::yield();
    auto forked = co_await fork([]() -> task<int> { co_return 1; });
    auto spawned = spawn([] { return 2; });
    const int sum = co_await forked;
    co_return sum + co_await spawned;
  }(started));
  wait_until([&started] { return started.load() == 1; }, "the task");
  CHECK_FALSE(f.cancel());
  CHECK(f.get() == 3);
  CHECK(started == 1);
}

TEST_CASE("the callbacks of a task that is cancelled before it starts run in the thread that cancels") {
  pool p({.workers = 1});
  std::atomic<int> started{0};
  std::atomic<bool> done{false};
  auto busy = p.spawn(
      [](std::atomic<int>& flag, std::atomic<bool>& until) {
        flag = 1;
        while (!until) std::this_thread::yield();
      },
      std::ref(started), std::ref(done));
  wait_until([&started] { return started.load() == 1; }, "the only worker to be busy");
  auto queued = p.spawn([] { return 1; });
  std::thread::id where;
  queued.add_done_callback([&where](const future<int>& f) {
    CHECK_THROWS_AS(f.result(), cancelled_error);
    where = std::this_thread::get_id();
  });
  CHECK(queued.cancel());
  CHECK(where == std::this_thread::get_id());
  done = true;
  busy.get();
}

TEST_CASE("a cancelled_error that nobody has asked for is reported as any other exception") {
  const unobserved seen;
  {
    pool p({.workers = 1});
    static_cast<void>(p.spawn([]() -> task<void> {
      throw cancelled_error("of my own");
      co_return;
    }));
  }
  CHECK(seen.count == 1);
}

}  // namespace cancel_cases
