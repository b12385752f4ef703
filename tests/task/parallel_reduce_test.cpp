// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

using plait::parallel_reduce;
using plait::pool;
using plait::sync_wait;
using plait::task;

namespace parallel_reduce_cases {
const int worker_counts[] = {1, 2, 8};
const auto plus = [](auto a, auto b) { return a + b; };

TEST_CASE("parallel_reduce adds up numbers and elements") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 3, 1000, 1000000}) {
      const plait::parallel_options options{.grain = grain};
      for (const int length : {0, 1, 2, 5, 1000, 20000}) {
        const long expected = 7 + static_cast<long>(length) * (length - 1) / 2;
        CHECK(p.run(parallel_reduce(
                  0, length, 7L, [](int i) { return long{i}; }, plus, options)) == expected);
      }
      std::vector<int> values(5000);
      std::iota(values.begin(), values.end(), -100);
      const long expected = std::accumulate(values.begin(), values.end(), 0L);
      const auto as_long = [](int x) { return long{x}; };
      CHECK(p.run(parallel_reduce(values, 0L, as_long, plus, options)) == expected);
      CHECK(p.run(parallel_reduce(values.begin(), values.end(), 0L, as_long, plus, options)) == expected);
      CHECK(p.run(parallel_reduce(std::views::iota(0, 100), 0L, as_long, plus, options)) == 4950);
      CHECK(p.run(parallel_reduce(std::vector<int>{1, 2, 3}, 0L, as_long, plus, options)) == 6);
    }
  }
}

TEST_CASE("parallel_reduce gives init for an empty or negative range, and uses it once otherwise") {
  const auto one = [](int) { return 1; };
  CHECK(sync_wait(parallel_reduce(0, 0, 42, one, plus)) == 42);
  CHECK(sync_wait(parallel_reduce(9, -9, 42, one, plus, {.grain = 2})) == 42);
  CHECK(sync_wait(parallel_reduce(0, 10, 42, one, plus, {.grain = 2})) == 52);
}

TEST_CASE("parallel_reduce combines neighbours in the order of the range") {
  std::string expected = "<";
  for (int i = 0; i < 3000; ++i) expected += std::to_string(i) + ",";
  const auto text = [](int i) { return std::to_string(i) + ","; };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 2, 7, 64}) {
      CHECK(p.run(parallel_reduce(0, 3000, std::string("<"), text, plus, {.grain = grain})) == expected);
    }
  }
}

TEST_CASE("with a grain, parallel_reduce combines in the same tree on any number of workers") {
  const auto leaf = [](int i) { return std::to_string(i); };
  const auto node = [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; };
  const auto result = [&](int workers, int length, std::size_t grain) {
    pool p({.workers = workers});
    return p.run(parallel_reduce(0, length, std::string("i"), leaf, node, {.grain = grain}));
  };
  CHECK(result(1, 5, 2) == "(i((01)((23)4)))");
  for (const auto grain : std::initializer_list<std::size_t>{1, 3, 16}) {
    const auto expected = result(1, 500, grain);
    for (int round = 0; round < 5; ++round) {
      CHECK(result(2, 500, grain) == expected);
      CHECK(result(8, 500, grain) == expected);
    }
  }
  std::vector<double> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
  const auto sum = [&](int workers) {
    pool p({.workers = workers});
    return p.run(parallel_reduce(values, 0.0, [](double x) { return x; }, plus, {.grain = 1000}));
  };
  CHECK(sum(1) == sum(2));  // to the last bit
  CHECK(sum(1) == sum(8));
}

TEST_CASE("parallel_reduce combines values that are move-only") {
  using box = std::unique_ptr<int>;
  const auto make = [](int i) { return std::make_unique<int>(i); };
  const auto add = [](box a, box b) {
    *a += *b;
    return a;
  };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 10}) {
      CHECK(*p.run(parallel_reduce(0, 1000, std::make_unique<int>(1), make, add, {.grain = grain})) == 499501);
    }
  }
}

TEST_CASE("what parallel_reduce combines need not have a default constructor") {
  struct range_of {
    explicit range_of(int i) : low(i), high(i) {}
    int low, high;
  };
  const auto both = [](range_of a, range_of b) {
    a.low = a.low < b.low ? a.low : b.low;
    a.high = a.high > b.high ? a.high : b.high;
    return a;
  };
  const auto r = sync_wait(parallel_reduce(
      -50, 70, range_of(0), [](int i) { return range_of(i); }, both));
  CHECK(r.low == -50);
  CHECK(r.high == 69);
}

TEST_CASE("the exception of the lowest index comes out of parallel_reduce; one of combine does, too") {
  const auto map = [](int i) {
    if (i % 100 == 41) throw std::runtime_error(std::to_string(i));
    return i;
  };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto grain : std::initializer_list<std::size_t>{0, 1, 10}) {
      for (int round = 0; round < 20; ++round) {
        CHECK_THROWS_WITH_AS(p.run(parallel_reduce(0, 3000, 0, map, plus, {.grain = grain})), "41", std::runtime_error);
      }
      const auto refuse = [](int a, int b) -> int {
        if (b == 999) throw std::logic_error("combine");
        return a > b ? a : b;
      };
      CHECK_THROWS_AS(p.run(parallel_reduce(0, 1000, 0, [](int i) { return i; }, refuse, {.grain = grain})),
                      std::logic_error);
    }
  }
}

TEST_CASE("parallel_reduce in the map of parallel_reduce, by blocking") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    const auto row = [](int i) {
      return sync_wait(parallel_reduce(
          0, 100, 0L, [i](int j) { return long{i} * j; }, plus));
    };
    CHECK(p.run(parallel_reduce(0, 100, 0L, row, plus)) == 4950L * 4950L);
  }
}

TEST_CASE("parallel_reduce counts in ranges beyond 2^32") {
  pool p({.workers = 2});
  const auto first = (std::uint64_t{1} << 40) - 1000;
  const auto last = (std::uint64_t{1} << 40) + 1000;
  const auto high = [](std::uint64_t i) { return static_cast<int>(i >> 40); };
  CHECK(p.run(parallel_reduce(first, last, 0, high, plus)) == 1000);
}

}  // namespace parallel_reduce_cases
