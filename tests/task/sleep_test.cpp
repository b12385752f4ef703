// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <vector>

using namespace std::chrono_literals;
using plait::cancelled_error;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using clock_type = std::chrono::steady_clock;

TEST_CASE("a sleeping task goes on no earlier than asked, and its worker runs others meanwhile") {
  pool p({.workers = 1});
  const auto start = clock_type::now();
  const int others = p.run([]() -> task<int> {
    std::atomic<bool> awake{false};
    auto sleeper = spawn([&awake]() -> task<void> {
      co_await plait::sleep_for(30ms);
      awake = true;
    });
    int count = 0;
    while (!awake.load()) {
      co_await plait::yield();
      ++count;
    }
    co_await sleeper;
    co_return count;
  }());
  CHECK(clock_type::now() - start >= 30ms);
  CHECK(others > 1);
}

TEST_CASE("tasks wake in the order of their times, whatever the order in which they went to sleep") {
  pool p({.workers = 1});
  struct round {
    clock_type::time_point base;
    bool in_time = true;  // all were asleep before the first had to wake
    std::vector<int> woken;
    static task<void> sleep(round& r, int i) {
      r.in_time = r.in_time && clock_type::now() < r.base;
      co_await plait::sleep_until(r.base + std::chrono::milliseconds(i));
      r.woken.push_back(i);
    }
    static task<round> play() {
      round r;
      r.base = clock_type::now() + 20ms;
      std::vector<future<void>> sleepers;
      for (const int i : {5, 1, 4, 2, 3, 0, 7, 6}) sleepers.push_back(spawn(sleep(r, i)));
      co_await plait::when_all(std::move(sleepers));
      co_return r;
    }
  };
  for (;;) {  // until a busy machine lets them; the case has a time limit
    const auto r = p.run(round::play());
    if (!r.in_time) continue;
    CHECK(r.woken == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
    return;
  }
}

TEST_CASE("all workers asleep: an earlier timer that another thread's task sets is not late") {
  pool p({.workers = 2});
  auto late = p.spawn([]() -> task<void> { co_await plait::sleep_for(2s); });
  plait_test::wait_until([&] { return p.timers().any() && p.parking().sleepers() == 2; }, "both workers to sleep");
  const auto start = clock_type::now();
  p.run([]() -> task<void> { co_await plait::sleep_for(10ms); }());
  const auto took = clock_type::now() - start;
  CHECK(took >= 10ms);
  CHECK(took < 1500ms);
  CHECK(!late.cancel());
  CHECK_THROWS_AS(late.get(), cancelled_error);
}

TEST_CASE("a time that has passed, and zero, only let others run") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    co_await plait::sleep_for(0s);
    co_await plait::sleep_for(-1s);
    co_await plait::sleep_until(std::chrono::system_clock::now() - 1h);
    co_await plait::sleep_until(clock_type::now());
  }());
}

TEST_CASE("the end of a pool resumes sleeping tasks with cancelled_error, again and again until none is left") {
  for (const int workers : {1, 2}) {
    std::atomic<int> caught{0};
    std::atomic<int> asleep{0};
    const auto start = clock_type::now();
    {
      pool p({.workers = workers});
      for (int i = 0; i < 10; ++i) {
        static_cast<void>(p.spawn([](std::atomic<int>& count, std::atomic<int>& sleeping) -> task<void> {
          sleeping.fetch_add(1);
          for (int again = 0; again < 3; ++again) {
            try {
              co_await plait::sleep_for(1h);
            } catch (const cancelled_error&) {
              count.fetch_add(1);
            }
          }
        }(caught, asleep)));
      }
      plait_test::wait_until([&] { return asleep.load() == 10; }, "the tasks to sleep");
    }
    CHECK(caught.load() == 30);
    CHECK(clock_type::now() - start < 60s);
  }
}

TEST_CASE("ten thousand sleepers wake, each once, while others are cancelled") {
  pool p({.workers = 2});
  std::atomic<int> woken{0};
  std::atomic<int> cancelled{0};
  p.run([](std::atomic<int>& woke, std::atomic<int>& stopped) -> task<void> {
    std::vector<future<void>> sleepers;
    for (int i = 0; i < 10'000; ++i) {
      sleepers.push_back(spawn([&woke, &stopped, i]() -> task<void> {
        try {
          co_await plait::sleep_for(std::chrono::microseconds(i * 7 % 5000));
          woke.fetch_add(1);
        } catch (const cancelled_error&) {
          stopped.fetch_add(1);
        }
      }));
    }
    for (std::size_t i = 0; i < sleepers.size(); i += 3) {
      if (sleepers[i].cancel()) stopped.fetch_add(1);
    }
    for (auto& f : sleepers) {
      try {
        co_await f;
      } catch (const cancelled_error&) {
      }
    }
  }(woken, cancelled));
  CHECK(woken.load() + cancelled.load() == 10'000);
}
