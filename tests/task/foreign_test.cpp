// SPDX-License-Identifier: BSL-1.0

// Awaitables of others, which resume a task wherever they like.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <coroutine>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using plait::fork;
using plait::pool;
using plait::spawn;
using plait::task;

namespace foreign_cases {

/// Resumed by a thread of its own.
struct in_new_thread {
  std::jthread& thread;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    auto& started = thread;  // the thread may resume the task, which ends this awaiter
    started = std::jthread([h] { h.resume(); });
  }
  int await_resume() const noexcept { return 42; }
};

/// Resumed by whoever calls fire().
struct gate {
  std::atomic<void*> waiting{nullptr};
  void fire() { std::coroutine_handle<>::from_address(waiting.exchange(nullptr)).resume(); }
  auto operator co_await() {
    struct awaiter {
      gate& g;
      explicit awaiter(gate& of) : g(of) {}
      awaiter(awaiter&&) = delete;  // is made where it stays
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> h) { g.waiting = h.address(); }
      void await_resume() const noexcept {}
    };
    return awaiter(*this);
  }
};

/// Says no when it is asked to suspend the task; or resumes it at once; or throws.
enum class answer { no, the_same, throws };
struct answering {
  answer what;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const {
    if (what == answer::throws) throw std::runtime_error("can't wait");
    return h;
  }
  answer await_resume() const noexcept { return what; }
};
struct refusing {
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
  int await_resume() const noexcept { return 7; }
};

struct by_free_operator {
  int value;
};
[[maybe_unused]] auto operator co_await(by_free_operator b) {
  struct awaiter {
    int value;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return value; }
  };
  return awaiter{b.value};
}

task<int> one() { co_return 1; }

TEST_CASE("a task that a foreign thread resumes goes on in its own pool and may fork there") {
  pool p({.workers = 2});
  std::jthread other;
  const int sum = p.run([](pool& home, std::jthread& thread) -> task<int> {
    int result = co_await in_new_thread{thread};
    CHECK(plait::sched::worker::of_this_thread() != nullptr);
    CHECK(&plait::sched::worker::of_this_thread()->home() == &home);
    auto child = co_await fork(one());
    result += co_await child;
    co_return result;
  }(p, other));
  CHECK(sum == 43);
}

TEST_CASE("a task that another task resumes leaves that one as it is: both count their own children") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int turn = 0; turn < 200; ++turn) {
      gate g;
      std::atomic<int> after{0};
      p.run([](gate& at, std::atomic<int>& count) -> task<void> {
        auto waiting = spawn([](gate& gate_, std::atomic<int>& c) -> task<void> {
          co_await gate_;
          static_cast<void>(spawn([&c]() -> task<void> {
            c.fetch_add(1);
            co_return;
          }));
          co_await plait::wait_children();
          c.fetch_add(1);
        }(at, count));
        while (at.waiting.load() == nullptr) co_await plait::yield();
        at.fire();  // in the middle of this task
        auto child = co_await fork(one());
        CHECK(co_await child == 1);
        static_cast<void>(spawn(one()));
        co_await plait::wait_children();
        co_await waiting;
      }(g, after));
      REQUIRE(after.load() == 2);
    }
  }
}

TEST_CASE("foreign awaiters may refuse to suspend, hand control straight back, or throw") {
  pool p({.workers = 1});
  CHECK(p.run([]() -> task<int> { co_return co_await refusing{}; }()) == 7);
  CHECK(p.run([]() -> task<answer> { co_return co_await answering{answer::the_same}; }()) == answer::the_same);
  CHECK_THROWS_WITH_AS(p.run([]() -> task<answer> { co_return co_await answering{answer::throws}; }()), "can't wait",
                       std::runtime_error);
  CHECK(p.run([]() -> task<int> { co_return co_await by_free_operator{5}; }()) == 5);
  CHECK(p.run([]() -> task<int> {
    co_await std::suspend_never{};
    co_return 3;
  }()) == 3);
}

TEST_CASE("a pool does not end before a task that waits for a foreign awaitable has gone on") {
  std::jthread other;
  std::atomic<bool> went_on{false};
  {
    pool p({.workers = 1});
    static_cast<void>(p.spawn([](std::jthread& thread, std::atomic<bool>& flag) -> task<void> {
      co_await in_new_thread{thread};
      flag = true;
    }(other, went_on)));
  }
  CHECK(went_on.load());
}

}  // namespace foreign_cases
