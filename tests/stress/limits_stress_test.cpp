// SPDX-License-Identifier: BSL-1.0

// Many of everything: workers, frames, levels, forks, exceptions.

#include <plait/core.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "waiting.hpp"

using plait::fork;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace {

constexpr bool slow = PLAIT_TSAN || PLAIT_ASAN;

task<int> number(int n) { co_return n; }

/// Resident memory in MiB, 0 where it is not told.
double resident() {
  auto* file = std::fopen("/proc/self/statm", "re");
  long all = 0, here = 0;
  if (file == nullptr) return 0;
  const bool read = std::fscanf(file, "%ld %ld", &all, &here) == 2;
  std::fclose(file);
  return read ? static_cast<double>(here) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024) : 0;
}

thread_local int of_this_thread = 0;
/// Not inlined: coroutines must not keep the address of what belongs to a thread.
[[gnu::noinline]] int& mine() {
  asm volatile("");
  return of_this_thread;
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}

}  // namespace

TEST_CASE("eight workers on few processors lose no job and no wake-up between bursts") {
  pool p({.workers = 8});
  for (int i = 0; i < (slow ? 40 : 2000); ++i) {
    REQUIRE(p.run(fib(i % 12)) ==
            std::vector<long>{0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89}[static_cast<std::size_t>(i % 12)]);
    std::atomic<int> ran{0};
    std::vector<future<>> futures;
    for (int k = 0; k < 8; ++k) {
      futures.push_back(p.spawn([](std::atomic<int>& n) -> task<> {
        for (int j = 0; j < 8; ++j) {
          static_cast<void>(spawn([&n] { ++n; }));
          if (j % 3 == 0) co_await plait::yield();
        }
        co_await plait::wait_children();
      }(ran)));
    }
    for (auto& f : futures) f.get();
    REQUIRE(ran == 64);
    if (i % 8 == 0) {
      plait_test::wait_until([&] { return p.parking().sleepers() == 8; }, "all eight workers to sleep");
    }
  }
}

TEST_CASE("a task that goes on in another thread after each suspension reads that thread's variables") {
  pool p({.workers = 2});
  struct helper {
    static task<int> hops(int rounds) {
      int wrong = 0;
      std::map<std::thread::id, int> written;
      const auto look = [&] { wrong += mine() != written[std::this_thread::get_id()]; };
      for (int i = 1; i <= rounds; ++i) {
        std::atomic<bool> stolen{false};
        const auto before = std::this_thread::get_id();
        written[before] = mine() = i;
        auto f = co_await fork([](std::atomic<bool>& until) -> task<bool> {
          co_return plait_test::wait_until([&until] { return until.load(); }, "another worker to take the parent");
        }(stolen));
        // The child keeps the first worker until we say so: this is another one.
        wrong += std::this_thread::get_id() == before;
        look();
        written[std::this_thread::get_id()] = mine() = -i;
        stolen = true;
        wrong += !co_await f;
        look();
        co_await plait::yield();
        look();
      }
      co_return wrong;
    }
  };
  CHECK(p.run(helper::hops(slow ? 200 : 2000)) == 0);
}

TEST_CASE("a recursion of a million co_awaits") {
  struct helper {
    static task<int> down(int depth) {
      if (depth == 0) co_return 0;
      co_return co_await down(depth - 1) + 1;
    }
  };
  constexpr int depth = slow ? 100'000 : 1'000'000;
  pool p({.workers = 2});
  const double before = resident();
  CHECK(p.run(helper::down(depth)) == depth);
  const double taken = resident() - before;
  MESSAGE("memory for ", depth, " frames: ", static_cast<int>(taken), " MiB");
  CHECK((slow || taken < 400));
}

TEST_CASE("a million futures of forks that nobody has awaited yet") {
  struct helper {
    static task<long> parent(int n, double before) {
      std::vector<future<int>> futures;
      futures.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) futures.push_back(co_await fork(number(1)));
      const double taken = resident() - before;
      MESSAGE("memory for ", n, " live futures of forks: ", static_cast<int>(taken), " MiB");
      CHECK((slow || taken < 200));
      long sum = 0;
      for (auto& f : futures) sum += co_await f;
      co_return sum;
    }
    /// The same where each child is suspended.
    static task<long> suspended(int n, double before) {
      plait::async_latch open(1);
      std::vector<future<int>> futures;
      futures.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) {
        futures.push_back(co_await fork([](plait::async_latch& latch) -> task<int> {
          co_await latch.wait();
          co_return 1;
        }(open)));
      }
      MESSAGE("memory for ", n, " forks that wait at a latch: ", static_cast<int>(resident() - before), " MiB");
      open.count_down();
      long sum = 0;
      for (auto& f : futures) sum += co_await f;
      co_return sum;
    }
  };
  constexpr int n = slow ? 100'000 : 1'000'000;
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::parent(n, resident())) == n);
  }
  pool p({.workers = 2});
  CHECK(p.run(helper::suspended(n / 4, resident())) == n / 4);
}

namespace {
struct failing {
  static task<int> fails(int i) {
    if (i % 3 == 0) co_await plait::yield();
    throw std::runtime_error(std::to_string(i));
  }
  template <class Start>
  static task<int> each(Start start) {
    std::vector<future<int>> futures;
    for (int i = 0; i < 1000; ++i) futures.push_back(co_await start(i));
    int right = 0;
    for (std::size_t i = 0; i < futures.size(); ++i) {
      try {
        co_await futures[i];
      } catch (const std::runtime_error& e) {
        right += e.what() == std::to_string(i);
      }
    }
    co_return right;
  }
  static task<future<int>> spawned(int i) { co_return spawn(fails(i)); }
  static task<std::string> together() {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 1000; ++i) tasks.push_back(fails(i));
    try {
      static_cast<void>(co_await plait::when_all(std::move(tasks)));
    } catch (const std::runtime_error& e) {
      co_return e.what();
    }
    co_return "none";
  }
  static task<int> settled() {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 1000; ++i) tasks.push_back(fails(i));
    int failed = 0;
    for (const auto& outcome : co_await plait::when_all_settled(std::move(tasks))) failed += !outcome.has_value();
    co_return failed;
  }
};
}  // namespace

TEST_CASE("each of a thousand children throws, whatever way they were started and joined") {
  for (const int workers : {1, 3}) {
    pool p({.workers = workers});
    CHECK(p.run(failing::each([](int i) { return fork(failing::fails(i)); })) == 1000);
    CHECK(p.run(failing::each([](int i) { return failing::spawned(i); })) == 1000);
    CHECK(p.run(failing::together()) == "0");
    CHECK(p.run(failing::settled()) == 1000);
  }
}

#if !PLAIT_ASAN && !PLAIT_TSAN
TEST_CASE("more workers than processors cost little more processor time than as many") {
  const auto used = [](int workers) {
    pool p({.workers = workers});
    const std::clock_t before = std::clock();
    CHECK(p.run(fib(27)) == 196418);
    return static_cast<double>(std::clock() - before);
  };
  double with_two = 1e30, with_eight = 1e30;
  for (int i = 0; i < 7; ++i) {
    with_two = std::min(with_two, used(2));
    with_eight = std::min(with_eight, used(8));
  }
  MESSAGE("eight workers take ", with_eight / with_two, " times the processor time of two");
  CHECK(with_eight < 2 * with_two);
}
#endif

TEST_CASE("tasks that end on another worker than the one that made them do not let the memory grow") {
  // The frames of `made` come from the producer's worker and die on the consumer's.
  pool producers({.workers = 1}), consumers({.workers = 1});
  struct helper {
    static task<long> produce(plait::channel<future<int>>& out, pool& elsewhere, int n) {
      for (int i = 0; i < n; ++i) {
        const bool sent = co_await out.send(plait::spawn_on(elsewhere, number(i & 1)));
        if (!sent) co_return 1;
      }
      out.close();
      co_return 0;
    }
    static task<long> consume(plait::channel<future<int>>& in) {
      long sum = 0;
      while (auto f = co_await in.receive()) sum += co_await *f;
      co_return sum;
    }
  };
  constexpr int n = slow ? 5'000 : 100'000;
  const auto round = [&] {
    plait::channel<future<int>> handed(64);
    auto made = producers.spawn(helper::produce(handed, consumers, n));
    CHECK(consumers.run(helper::consume(handed)) == n / 2);
    CHECK(made.get() == 0);
  };
  round();
  const double before = resident();
  const char* const wanted = std::getenv("PLAIT_STRESS_SECONDS");
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(wanted != nullptr ? std::atol(wanted) : 0);
  for (int i = 0; i < (slow ? 2 : 5) || std::chrono::steady_clock::now() < until; ++i) round();
  const double grown = resident() - before;
  MESSAGE("memory has grown by ", grown, " MiB");
#if !PLAIT_ASAN && !PLAIT_TSAN
  CHECK(grown < 8);
#endif
}
