// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include "waiting.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <limits>
#include <list>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using plait::parallel_for;
using plait::pool;
using plait::sync_wait;
using plait::task;

namespace parallel_for_cases {
const int worker_counts[] = {1, 2, 8};

/// How often each index was visited by parallel_for(0, length, ..., {grain}).
std::vector<int> visits(pool& p, std::size_t length, std::size_t grain) {
  std::vector<int> counts(length);
  p.run(parallel_for(std::size_t{0}, length, [&](std::size_t i) { ++counts[i]; }, {.grain = grain}));
  return counts;
}

TEST_CASE("parallel_for visits each index once, with any number of workers and any grain") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto length : std::initializer_list<std::size_t>{0, 1, 2, 3, 7, 64, 1000, 100001}) {
      for (const auto grain : std::initializer_list<std::size_t>{0, 1, 3, 64, 5000, 1000000}) {
        if (length > 10000 && grain == 1) continue;
        CHECK(visits(p, length, grain) == std::vector<int>(length, 1));
      }
    }
  }
}

TEST_CASE("parallel_for does nothing for an empty or negative range") {
  int calls = 0;
  const auto count = [&](auto) { ++calls; };
  sync_wait(parallel_for(0, 0, count));
  sync_wait(parallel_for(5, -5, count));
  sync_wait(parallel_for(5u, 3u, count));
  sync_wait(parallel_for(3, std::size_t{2}, count));
  std::vector<int> none;
  sync_wait(parallel_for(none, count));
  sync_wait(parallel_for(none.begin(), none.end(), count, {.grain = 4}));
  CHECK(calls == 0);
}

TEST_CASE("parallel_for takes negative numbers and types of different width") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::atomic<long> sum{0};
    p.run(parallel_for(-1000, 2000L, [&](long i) { sum += i; }));
    CHECK(sum == 1498500);
    const auto add = [&sum](auto i) {
      static_assert(std::is_same_v<decltype(i), std::size_t>);
      sum += static_cast<long>(i);
    };
    p.run(parallel_for(0, std::size_t{10}, add));
    CHECK(sum == 1498545);
  }
  CHECK_THROWS_WITH_AS(sync_wait(parallel_for(-1, 10u, [](unsigned) {})), doctest::Contains("negative"), plait::error);
}

TEST_CASE("parallel_for works at the limits of each integer type") {
  pool p({.workers = 2});
  const auto visited = [&p]<class I>(I first, I last) {
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> outside{false};
    p.run(parallel_for(first, last, [&, first, last](I i) {
      if (i < first || i >= last) outside = true;
      ++count;
    }));
    CHECK_FALSE(outside);
    return count.load();
  };
  const auto ends = [&visited]<class I>(I) {
    using limits = std::numeric_limits<I>;
    CHECK(visited(static_cast<I>(limits::max() - 50), limits::max()) == 50);
    CHECK(visited(limits::min(), static_cast<I>(limits::min() + 50)) == 50);
  };
  ends(std::int8_t{});
  ends(std::uint8_t{});
  ends(std::int16_t{});
  ends(std::int32_t{});
  ends(std::uint32_t{});
  ends(std::int64_t{});
  ends(std::uint64_t{});
  CHECK(visited(std::int8_t{-128}, std::int8_t{127}) == 255);
}

TEST_CASE("parallel_for goes through ranges longer than 2^32, and leaves out what comes after an exception") {
  struct enough : std::exception {};
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::atomic<std::uint64_t> highest{0};
    const auto last = std::numeric_limits<std::int64_t>::max();
    const auto body = [&](std::int64_t i) {
      if (i == 1000) throw enough();
      if (static_cast<std::uint64_t>(i) > highest) highest = static_cast<std::uint64_t>(i);
    };
    CHECK_THROWS_AS(p.run(parallel_for(std::int64_t{0}, last, body)), enough);  // it ends, in less than 2^63 steps
    if (workers == 1) CHECK(highest == 999);
    // Only where it begins can be so much: one iteration in 2^34 does anything.
    std::atomic<int> begun{0};
    const auto skip = [&](std::uint64_t i) {
      if ((i & ((std::uint64_t{1} << 34) - 1)) == 5) ++begun;
      if (i == std::uint64_t{1} << 10) throw enough();
    };
    CHECK_THROWS_AS(p.run(parallel_for(std::uint64_t{0}, std::uint64_t{1} << 40, skip, {.grain = 1 << 14})), enough);
    CHECK(begun >= 1);
  }
}

TEST_CASE("parallel_for gives the elements of iterators and ranges by reference") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::vector<int> values(10000, 1);
    const auto twice = [](int& x) { x *= 2; };
    p.run(parallel_for(values.begin(), values.end(), twice));
    p.run(parallel_for(values, twice));
    p.run(parallel_for(std::span(values), twice));
    p.run(parallel_for(values | std::views::reverse, twice));
    CHECK(values == std::vector<int>(10000, 16));
    std::deque<int> blocks(5000, 3);
    p.run(parallel_for(blocks, twice, {.grain = 10}));
    CHECK(blocks == std::deque<int>(5000, 6));
    int array[] = {1, 2, 3};
    p.run(parallel_for(array, twice));
    CHECK(array[2] == 6);
    std::atomic<int> sum{0};
    p.run(parallel_for(std::views::iota(0, 100), [&](int i) { sum += i; }));
    p.run(parallel_for(std::vector<int>{1, 2, 3}, [&](const int& i) { sum += i; }));  // a temporary is kept
    CHECK(sum == 4950 + 6);
  }
}

TEST_CASE("parallel_for goes through numbers in order on one worker") {
  pool p({.workers = 1});
  std::vector<int> order;
  p.run(parallel_for(0, 1000, [&](int i) { order.push_back(i); }, {.grain = 7}));
  p.run(parallel_for(1000, 2000, [&](int i) -> task<> {
    order.push_back(i);
    co_await plait::yield();
  }));
  for (int i = 0; i < 2000; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("parallel_for awaits a body that gives a task") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::vector<int> counts(3000);
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 100}) {
      const auto body = [&counts](std::size_t i) -> task<> {
        if (i % 3 == 0) co_await plait::yield();
        const int more = co_await plait::spawn([] { return 1; });
        counts[i] += more;
      };
      p.run(parallel_for(std::size_t{0}, counts.size(), body, {.grain = grain}));
    }
    CHECK(counts == std::vector<int>(3000, 3));
  }
}

TEST_CASE("parallel_for keeps a body that is move-only, and calls one with state of its own") {
  struct counting {
    std::unique_ptr<std::atomic<int>> count = std::make_unique<std::atomic<int>>(0);
    std::atomic<int>* seen;
    void operator()(int) { *seen = ++*count; }
  };
  std::atomic<int> seen{0};
  pool p({.workers = 2});
  counting body;
  body.seen = &seen;
  p.run(parallel_for(0, 100, std::move(body)));
  CHECK(seen >= 99);
}

TEST_CASE("the exception of the lowest index comes out of parallel_for, whoever throws first") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 10}) {
      for (int round = 0; round < 20; ++round) {
        std::atomic<int> under_way{0};
        const auto body = [&](int i) {
          ++under_way;
          if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
          --under_way;
        };
        CHECK_THROWS_WITH_AS(p.run(parallel_for(0, 5000, body, {.grain = grain})), "37", std::runtime_error);
        const auto awaited = [](int i) -> task<> {
          if (i % 7 == 0) co_await plait::yield();
          if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
        };
        CHECK_THROWS_WITH_AS(p.run(parallel_for(0, 500, awaited, {.grain = grain})), "37", std::runtime_error);
      }
    }
  }
}

TEST_CASE(
    "an exception is caught where parallel_for was awaited, and the locals of the body's task outlive all parts") {
  struct helper {
    static task<int> use() {
      std::vector<int> local(10000);
      try {
        co_await parallel_for(0, 10000, [&](int i) {
          local[static_cast<std::size_t>(i)] = 1;
          if (i == 5000) throw std::logic_error("stop");
        });
      } catch (const std::logic_error&) {
        int before = 0;
        for (int i = 0; i < 5000; ++i) before += local[static_cast<std::size_t>(i)];
        co_return before;
      }
      co_return -1;
    }
  };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (int round = 0; round < 50; ++round) CHECK(p.run(helper::use()) == 5000);  // all below have been executed
  }
}

TEST_CASE("parallel_for in the body of parallel_for: awaited, and by blocking") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::vector<int> cells(200 * 50);
    const auto inner = [&cells](int row) {
      return parallel_for(0, 50, [&cells, row](int column) { ++cells[static_cast<std::size_t>(row * 50 + column)]; });
    };
    p.run(parallel_for(0, 200, [&](int row) -> task<> { co_await inner(row); }));
    p.run(parallel_for(0, 200, [&](int row) { return inner(row); }));
    p.run(parallel_for(0, 200, [&](int row) { sync_wait(inner(row)); }));
    CHECK(cells == std::vector<int>(cells.size(), 3));
    // three deep
    std::atomic<int> count{0};
    p.run(parallel_for(0, 10, [&](int) {
      return parallel_for(0, 10, [&](int) { return parallel_for(0, 10, [&](int) { ++count; }); });
    }));
    CHECK(count == 1000);
  }
}

TEST_CASE("other workers take part in a loop: iterations that wait for each other's threads meet") {
  pool p({.workers = 2});
  std::atomic<int> arrived{0};
  std::atomic<int> met{0};
  const auto meet = [&](int) {
    ++arrived;
    if (plait_test::wait_until([&] { return arrived >= 2; }, "a second iteration at the same time")) ++met;
  };
  p.run(parallel_for(0, 2, meet));
  CHECK(met == 2);
}

TEST_CASE("a long iteration does not keep the rest of the loop from other workers") {
  pool p({.workers = 2});
  std::atomic<int> others{0};
  const auto body = [&](int i) {
    if (i != 3000) {
      ++others;
    } else {
      // half of the loop at least: what this worker holds, it has offered as much of
      plait_test::wait_until([&] { return others >= 4900; }, "the other worker to do the rest");
    }
  };
  p.run(parallel_for(0, 10000, body, {.grain = 10}));
  CHECK(others == 9999);
}

TEST_CASE("parallel_for can be dropped before it runs") {
  auto owner = std::make_shared<int>(1);
  {
    auto never = parallel_for(0, 10, [owner](int) {});
  }
  CHECK(owner.use_count() == 1);
}

TEST_CASE("many loops at the same time share the workers") {
  struct helper {
    static task<long> use() {
      std::vector<plait::future<>> loops;
      std::vector<std::atomic<long>> sums(50);
      for (auto& sum : sums) {
        loops.push_back(co_await plait::fork(parallel_for(0, 2000, [&sum](int i) { sum += i; })));
      }
      co_await plait::when_all(std::move(loops));
      long total = 0;
      for (auto& sum : sums) total += sum;
      co_return total;
    }
  };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 50 * 1999000L);
  }
}

}  // namespace parallel_for_cases
