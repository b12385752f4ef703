// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

using plait::async_barrier;
using plait::cancelled_error;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

TEST_CASE("tasks pass the phases of a barrier together, and the completion runs between two phases") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    p.run([]() -> task<void> {
      constexpr int parties = 5;
      constexpr int phases = 200;
      std::vector<int> at(parties, 0);  // written by its owner, read by the completion: the barrier orders it
      int completed = 0;
      bool together = true;
      async_barrier barrier(parties, [&]() noexcept {
        ++completed;
        for (const int x : at) together = together && x == completed;
      });
      std::vector<future<void>> all;
      for (std::size_t i = 0; i < parties; ++i) {
        all.push_back(spawn([&, i]() -> task<void> {
          for (int phase = 0; phase < phases; ++phase) {
            ++at[i];
            co_await barrier.arrive_and_wait();
          }
        }));
      }
      co_await plait::when_all(std::move(all));
      CHECK(completed == phases);
      CHECK(together);
    }());
  }
}

TEST_CASE("who drops out is not expected any more") {
  pool p({.workers = 2});
  p.run([]() -> task<void> {
    int completed = 0;
    async_barrier barrier(4, [&completed]() noexcept { ++completed; });
    std::vector<future<void>> all;
    for (int i = 1; i <= 4; ++i) {
      all.push_back(spawn([&barrier, i]() -> task<void> {
        for (int phase = 1; phase < i; ++phase) co_await barrier.arrive_and_wait();
        barrier.arrive_and_drop();
      }));
    }
    co_await plait::when_all(std::move(all));
    CHECK(completed == 4);
    try {
      co_await barrier.arrive_and_wait();
      FAIL_CHECK("nobody is expected");
    } catch (const plait::error&) {
    }
    CHECK_THROWS_AS(barrier.arrive_and_drop(), plait::error);
  }());
  CHECK_THROWS_AS(async_barrier(-1), plait::error);
}

TEST_CASE("what the completion throws reaches who arrived last, and the others go on") {
  pool p({.workers = 2});
  std::atomic<int> thrown{0};
  std::atomic<int> went_on{0};
  p.run([](std::atomic<int>& errors, std::atomic<int>& others) -> task<void> {
    async_barrier barrier(3, [] { throw std::runtime_error("completion"); });
    std::vector<future<void>> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(spawn([&]() -> task<void> {
        for (int phase = 0; phase < 10; ++phase) {
          try {
            co_await barrier.arrive_and_wait();
            others.fetch_add(1);
          } catch (const std::runtime_error&) {
            errors.fetch_add(1);
          }
        }
      }));
    }
    co_await plait::when_all(std::move(all));
  }(thrown, went_on));
  CHECK(thrown.load() == 10);
  CHECK(went_on.load() == 20);
}

TEST_CASE("a move-only completion, and one that another thread's drop calls") {
  pool p({.workers = 1});
  auto count = std::make_unique<int>(0);
  int& times = *count;
  async_barrier barrier(2, [c = std::move(count)]() noexcept { ++*c; });
  std::atomic<bool> there{false};
  auto f = p.spawn([&]() -> task<void> {
    there = true;
    co_await barrier.arrive_and_wait();
  });
  wait_until([&] { return there.load(); }, "the task to arrive");
  barrier.arrive_and_drop();
  f.get();
  CHECK(times == 1);
}

TEST_CASE("a task that is asked to stop has not arrived, and may drop out") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    async_barrier<> barrier(3);
    std::atomic<int> there{0};
    auto stopped = p.spawn([&]() -> task<bool> {
      there.fetch_add(1);
      try {
        co_await barrier.arrive_and_wait();
      } catch (const cancelled_error&) {
        barrier.arrive_and_drop();
        co_return true;
      }
      co_return false;
    });
    wait_until([&] { return there.load() == 1; }, "one to arrive");
    CHECK(!stopped.cancel());
    CHECK(stopped.get());
    p.run([](async_barrier<>& b) -> task<void> {  // two are left
      auto other = spawn([&b]() -> task<void> {
        for (int i = 0; i < 10; ++i) co_await b.arrive_and_wait();
      });
      for (int i = 0; i < 10; ++i) co_await b.arrive_and_wait();
      co_await other;
    }(barrier));
  }
}

TEST_CASE("arrivals beside requests to stop: no phase ends early, none hangs") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 500; ++turn) {
    constexpr int parties = 4;
    std::atomic<int> phases{0};
    async_barrier barrier(parties, [&phases]() noexcept { phases.fetch_add(1); });
    std::atomic<int> started{0};
    const auto party = [&](int rounds) -> task<int> {
      started.fetch_add(1);
      int passed = 0;
      try {
        for (; passed < rounds; ++passed) co_await barrier.arrive_and_wait();
      } catch (const cancelled_error&) {
      }
      barrier.arrive_and_drop();
      co_return passed;
    };
    std::vector<future<int>> all;
    for (int i = 0; i < parties; ++i) all.push_back(p.spawn(party(20)));
    wait_until([&] { return started.load() == parties; }, "all to start");
    CHECK(!all[0].cancel());
    CHECK(!all[2].cancel());
    int most = 0;
    for (auto& f : all) most = std::max(most, f.get());
    REQUIRE(most == 20);
    REQUIRE(phases.load() == 21);  // 20 that were awaited, and the one in which the last dropped out
  }
}
