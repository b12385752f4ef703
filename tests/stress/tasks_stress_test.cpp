// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using plait::fork;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace {

/// A tree in which each node chooses by its number how it starts its children, how it joins them, and whether it
/// suspends, blocks, throws or drops something on the way.
task<long> tree(unsigned seed, int depth, std::atomic<long>& ran) {
  seed = seed * 1664525u + 1013904223u;
  const unsigned choice = seed >> 24;
  ++ran;
  if (choice % 3 == 0) co_await plait::yield();
  if (depth == 0) co_return 1;
  switch (choice % 7) {
    case 0: {
      auto a = co_await fork(tree(seed, depth - 1, ran));
      auto b = co_await fork(tree(seed + 1, depth - 1, ran));
      const long x = co_await a;
      co_return x + co_await b;
    }
    case 1: {
      auto a = spawn(tree(seed, depth - 1, ran));
      const long b = co_await tree(seed + 1, depth - 1, ran);
      co_return co_await a + b;
    }
    case 2: {
      auto [a, b] = co_await plait::when_all(tree(seed, depth - 1, ran), spawn(tree(seed + 1, depth - 1, ran)));
      co_return a + b;
    }
    case 3: {  // by blocking
      auto a = spawn(tree(seed, depth - 1, ran));
      auto b = spawn(tree(seed + 1, depth - 1, ran));
      const long x = b.get();
      co_return x + a.get();
    }
    case 4: {  // a dropped fork and a detached task beside the two that count
      auto lost = co_await fork(tree(seed + 2, depth - 3 > 0 ? depth - 3 : 0, ran));
      static_cast<void>(spawn(tree(seed + 3, 0, ran)));
      auto a = co_await fork(tree(seed, depth - 1, ran));
      const long b = co_await tree(seed + 1, depth - 1, ran);
      co_return co_await a + b;
    }
    case 5: {  // an exception on the way, with a child that uses a local
      long x = 0;
      try {
        long local = 0;
        auto a = co_await fork([](long& out, task<long> t) -> task<> { out = co_await t; }, std::ref(local),
                               tree(seed, depth - 1, ran));
        co_await a;
        x = local;
        throw std::runtime_error("on the way");
      } catch (const std::runtime_error&) {
      }
      co_return x + co_await tree(seed + 1, depth - 1, ran);
    }
    default: {
      std::vector<future<long>> futures;
      futures.push_back(spawn(tree(seed, depth - 1, ran)));
      futures.push_back(co_await fork(tree(seed + 1, depth - 1, ran)));
      auto range = plait::as_completed(futures);
      long sum = 0;
      while (auto c = co_await plait::next(range)) sum += co_await c->future;
      co_return sum;
    }
  }
}

constexpr int tree_depth = PLAIT_TSAN || PLAIT_ASAN ? 8 : 10;

}  // namespace

TEST_CASE("trees that mix every way of starting and joining tasks come to the right sum") {
  for (const int workers : {1, 2, 4}) {
    pool p({.workers = workers});
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::atomic<long> ran{0};
      REQUIRE(p.run(tree(977 * seed, tree_depth, ran)) == 1L << tree_depth);
    }
  }
}

TEST_CASE("several threads run mixed trees in one pool") {
  pool p({.workers = 3});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 5; ++i) {
        std::atomic<long> ran{0};
        wrong += p.run(tree(100 * t + i, tree_depth - 2, ran)) != 1L << (tree_depth - 2);
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("pools that sleep and wake between short bursts lose no wake-up") {
  pool p({.workers = 4});
  for (int i = 0; i < 300; ++i) {
    std::atomic<long> ran{0};
    REQUIRE(p.run(tree(static_cast<unsigned>(i), 3, ran)) == 8);
    if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

TEST_CASE("futures are dropped, awaited and called back while their tasks end") {
  pool p({.workers = 3});
  std::atomic<long> called{0}, ended{0};
  struct helper {
    static task<> burst(int n, std::atomic<long>& calls, std::atomic<long>& ends) {
      for (int i = 0; i < n; ++i) {
        auto f = spawn([&ends, i]() -> task<int> {
          if (i % 4 == 0) co_await plait::yield();
          ++ends;
          co_return i;
        });
        if (i % 2 == 0) {
          f.add_done_callback([&calls, i](const future<int>& done) { calls += done.result() == i; });
        }
        switch (i % 5) {
          case 0:
            co_await f;
            break;
          case 1:
            f.wait();
            break;
          case 2:
            static_cast<void>(f.wait_for(std::chrono::microseconds(i % 7)));
            break;
          case 3:
            static_cast<void>(f.done());
            break;
          default:
            break;  // dropped
        }
      }
    }
  };
  constexpr int n = 4000;
  p.run(helper::burst(n, called, ended));
  CHECK(ended == n);
  CHECK(called == n / 2);
}
