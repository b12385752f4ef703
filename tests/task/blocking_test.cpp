// SPDX-License-Identifier: BSL-1.0

// Calls that block, in threads of their own.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../support/waiting.hpp"

using plait::blocking;
using plait::fork;
using plait::pool;
using plait::spawn;
using plait::sync_wait;
using plait::task;
using plait_test::wait_until;

namespace blocking_cases {

/// Holds those that call it until it is opened.
struct door {
  std::latch open{1};
  std::atomic<int> inside{0};
  int pass(int value) {
    ++inside;
    open.wait();
    return value;
  }
};

unsigned threads_of(pool& p) { return plait::detail::blocking_threads<>::of(p).count(); }

TEST_CASE("a blocking call runs in a thread that is no worker, and its task goes on in its pool") {
  pool p({.workers = 1});
  p.run([](pool& here) -> task<> {
    const auto worker = std::this_thread::get_id();
    const auto other = co_await blocking([] {
      CHECK_THROWS_AS(plait::this_worker::id(), plait::error);
      return std::this_thread::get_id();
    });
    CHECK(other != worker);
    CHECK(std::this_thread::get_id() == worker);
    CHECK(plait::this_worker::id() == 0);
    CHECK(threads_of(here) == 1);
  }(p));
}

TEST_CASE("the worker runs other tasks while a call blocks") {
  pool p({.workers = 1});
  door d;
  const int got = p.run([](door& in) -> task<int> {
    auto held = spawn(blocking(&door::pass, &in, 5));
    while (in.inside == 0) co_await plait::yield();
    in.open.count_down();
    co_return co_await held;
  }(d));
  CHECK(got == 5);
}

TEST_CASE("a blocking call gives nothing, a reference, or what can only be moved") {
  int x = 3;
  std::atomic<int> calls{0};
  sync_wait([](int& target, std::atomic<int>& count) -> task<> {
    co_await blocking([&count] { ++count; });
    int& same = co_await blocking([&target]() -> int& { return target; });
    CHECK(&same == &target);
    auto owned = co_await blocking([] { return std::make_unique<int>(7); });
    CHECK(*owned == 7);
    auto passed = co_await blocking([](std::unique_ptr<int> p) { return p; }, std::move(owned));
    CHECK(*passed == 7);
    const auto text = co_await blocking(&std::string::size, std::string("seven"));
    CHECK(text == 5);
  }(x, calls));
  CHECK(calls == 1);
}

TEST_CASE("what a blocking call throws comes to the one who awaits it") {
  CHECK_THROWS_WITH_AS(sync_wait(blocking([]() -> int { throw std::runtime_error("no such file"); })), "no such file",
                       std::runtime_error);
  CHECK_THROWS_AS(sync_wait(blocking([] { throw 42; })), int);
}

TEST_CASE("a blocking call keeps copies of its arguments") {
  pool p({.workers = 2});
  auto f = [&p] {
    const std::string name(100, 'x');
    return p.spawn(blocking([](const std::string& s) { return s.size(); }, name));
  }();
  CHECK(f.get() == 100);
}

TEST_CASE("blocking calls can be forked, spawned and joined like other tasks") {
  const auto twice = [](int n) { return 2 * n; };
  const int sum = sync_wait([](auto f) -> task<int> {
    auto [a, b] = co_await plait::when_all(blocking(f, 1), blocking(f, 2));
    auto c = co_await fork(blocking(f, 3));
    auto d = spawn(blocking(f, 4));
    const int three = co_await c;
    co_return a + b + three + co_await d;
  }(twice));
  CHECK(sum == 20);
}

TEST_CASE("a thousand blocking calls at once wait for no more than the threads there are") {
  pool p({.workers = 2, .blocking_threads = 8});
  std::atomic<int> now{0}, most{0};
  const long sum = p.run([](std::atomic<int>& running, std::atomic<int>& highest) -> task<long> {
    std::vector<task<int>> calls;
    for (int i = 0; i < 1000; ++i) {
      calls.push_back(blocking([i, &running, &highest] {
        const int n = ++running;
        for (int m = highest; m < n && !highest.compare_exchange_weak(m, n);) {
        }
        std::this_thread::yield();
        --running;
        return i;
      }));
    }
    long total = 0;
    for (const int i : co_await plait::when_all(std::move(calls))) total += i;
    co_return total;
  }(now, most));
  CHECK(sum == 499500);
  CHECK(most <= 8);
  CHECK(threads_of(p) <= 8);
}

TEST_CASE("as many calls as the limit allows block at the same time") {
  pool p({.workers = 1, .blocking_threads = 40});
  door d;
  std::vector<plait::future<int>> calls;
  for (int i = 0; i < 60; ++i) calls.push_back(p.spawn(blocking(&door::pass, &d, i)));
  wait_until([&d] { return d.inside == 40; }, "40 calls to be under way");
  CHECK(threads_of(p) == 40);
  d.open.count_down();
  for (int i = 0; i < 60; ++i) CHECK(calls[static_cast<std::size_t>(i)].get() == i);
  CHECK(threads_of(p) == 40);
}

TEST_CASE("a thread is used again, and ends when it has had nothing to do for a while") {
  pool p({.workers = 1});
  auto& threads = plait::detail::blocking_threads<>::of(p);
  for (int i = 0; i < 20; ++i) CHECK(p.run(blocking([i] { return i; })) == i);
  CHECK(threads.count() <= 2);  // the last one may not have lain down yet when the next call comes
  threads.set_patience(std::chrono::microseconds(200));
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<plait::future<>> calls;
    for (int i = 0; i < 5; ++i) calls.push_back(p.spawn(blocking([] { std::this_thread::yield(); })));
    for (auto& f : calls) f.get();
    CHECK(threads.count() <= 2 + 5 * (turn + 1));  // as above, of all five
  }
  // Those that lay down before have the old patience: each gets another call.
  wait_until(
      [&] {
        p.run(blocking([] {}));
        return threads.count() <= 1;
      },
      "the threads to end");
}

TEST_CASE("a call that waits for a thread is not made once its task is asked to stop") {
  pool p({.workers = 2, .blocking_threads = 1});
  door d;
  auto first = p.spawn(blocking(&door::pass, &d, 1));
  wait_until([&d] { return d.inside == 1; }, "the first call");
  std::atomic<bool> called{false};
  auto second = p.spawn(blocking([&called] { called = true; }));
  wait_until([&second] { return second.running(); }, "the second task to start");
  CHECK_FALSE(second.cancel());
  CHECK_THROWS_AS(second.get(), plait::cancelled_error);
  d.open.count_down();
  CHECK(first.get() == 1);
  CHECK_FALSE(called);
}

TEST_CASE("a call that runs is not interrupted by a request to stop, and its result is there") {
  pool p({.workers = 2});
  door d;
  auto f = p.spawn(blocking(&door::pass, &d, 1));
  wait_until([&d] { return d.inside == 1; }, "the call");
  CHECK_FALSE(f.cancel());
  CHECK_FALSE(f.done());
  d.open.count_down();
  CHECK(f.get() == 1);
}

TEST_CASE("a task that was asked to stop makes no more blocking calls") {
  pool p({.workers = 2});
  door d;
  std::atomic<bool> called{false};
  auto f = p.spawn([](door& in, std::atomic<bool>& flag) -> task<> {
    co_await blocking(&door::pass, &in, 1);
    co_await blocking([&flag] { flag = true; });
  }(d, called));
  wait_until([&d] { return d.inside == 1; }, "the call");
  f.cancel();
  d.open.count_down();
  CHECK_THROWS_AS(f.get(), plait::cancelled_error);
  CHECK_FALSE(called);
}

TEST_CASE("a call can look for a request to stop by a token that it was given") {
  pool p({.workers = 2});
  std::atomic<bool> started{false};
  auto f = p.spawn([](std::atomic<bool>& flag) -> task<bool> {
    auto wait_for_stop = [&flag](const std::stop_token& stop) {
      flag = true;
      while (!stop.stop_requested()) std::this_thread::yield();
      return true;
    };
    co_return co_await blocking(wait_for_stop, plait::this_task::stop_token());
  }(started));
  wait_until([&started] { return started.load(); }, "the call");
  f.cancel();
  CHECK(f.get());
}

TEST_CASE("a fork of a blocking call that is dropped ends before what the call refers to") {
  pool p({.workers = 1});
  std::atomic<bool> ended{false};
  p.run([](std::atomic<bool>& flag) -> task<> {
    {
      std::vector<int> values(1000, 1);
      auto sum = [&values, &flag] {
        int total = 0;
        for (const int v : values) total += v;
        flag = true;
        return total;
      };
      const auto f = co_await fork(blocking(sum));
      while (!flag) co_await plait::yield();
    }
  }(ended));
  CHECK(ended);
}

TEST_CASE("a pool that is destroyed makes all blocking calls first") {
  std::atomic<int> calls{0};
  {
    pool p({.workers = 2, .blocking_threads = 2});
    for (int i = 0; i < 50; ++i) {
      static_cast<void>(p.spawn(blocking([&calls] {
        std::this_thread::yield();
        ++calls;
      })));
    }
  }
  CHECK(calls == 50);
}

TEST_CASE("the exception of a detached blocking call is reported") {
  std::string what;
  auto before = plait::set_unobserved_exception_handler([&what](std::exception_ptr e, std::string_view) {
    try {
      std::rethrow_exception(std::move(e));
    } catch (const std::exception& x) {
      what = x.what();
    }
  });
  {
    pool p({.workers = 1});
    static_cast<void>(p.spawn(blocking([] { throw std::runtime_error("disk full"); })));
  }
  plait::set_unobserved_exception_handler(std::move(before));
  CHECK(what == "disk full");
}

TEST_CASE("a blocking call may wait for tasks of its own pool") {
  pool p({.workers = 1});
  const int got = p.run([](pool& here) -> task<int> {
    co_return co_await blocking(
        [&here] { return here.spawn([] { return 6; }).get() * here.run(blocking([] { return 7; })); });
  }(p));
  CHECK(got == 42);
}

TEST_CASE("a callable that a blocking call keeps ends with the call's task") {
  const auto kept = std::make_shared<int>(1);
  std::weak_ptr<int> seen;
  sync_wait([](std::shared_ptr<int> value, std::weak_ptr<int>& observer) -> task<> {
    observer = value;
    auto call = [value = std::move(value)] { return *value; };
    const int n = co_await blocking(std::move(call));
    CHECK(n == 1);
  }(kept, seen));
  CHECK(kept.use_count() == 1);
}

TEST_CASE("a pool refuses a limit of threads that makes no sense") {
  CHECK_THROWS_AS(pool({.workers = 1, .blocking_threads = 0}), plait::error);
  CHECK_THROWS_AS(pool({.workers = 1, .blocking_threads = -1}), plait::error);
  CHECK_THROWS_AS(pool({.workers = 1, .blocking_threads = 40000}), plait::error);
}

TEST_CASE("off a worker a blocking call is made in the thread that is there") {
  std::thread::id where;
  [](std::thread::id& out) -> plait::detail::relay {  // a coroutine of its own, in no pool
    out = co_await blocking([] { return std::this_thread::get_id(); });
  }(where)
                                  .handle()
                                  .resume();
  CHECK(where == std::this_thread::get_id());
}

}  // namespace blocking_cases
