// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using plait::parallel_sort;
using plait::pool;
using plait::sync_wait;

namespace parallel_sort_cases {
const int worker_counts[] = {1, 2, 8};

/// Inputs that are hard for some quicksorts, by name.
struct input {
  const char* name;
  std::uint64_t (*value)(std::uint64_t i, std::uint64_t n, std::mt19937_64& random);
};
const input inputs[] = {
    {"random", [](auto, auto, auto& random) { return static_cast<std::uint64_t>(random() >> 1); }},
    {"in order", [](auto i, auto, auto&) { return i; }},
    {"in reverse order", [](auto i, auto n, auto&) { return n - i; }},
    {"all equal", [](auto, auto, auto&) { return std::uint64_t{7}; }},
    {"an organ pipe", [](auto i, auto n, auto&) { return i < n / 2 ? i : n - i; }},
    {"two values", [](auto, auto, auto& random) { return static_cast<std::uint64_t>(random() % 2); }},
    {"sixteen values", [](auto, auto, auto& random) { return static_cast<std::uint64_t>(random() % 16); }},
    {"saw teeth", [](auto i, auto, auto&) { return i % 100; }},
    {"two interleaved", [](auto i, auto n, auto&) { return i % 2 == 0 ? i : n - i; }},
    {"in order, then random",
     [](auto i, auto n, auto& random) { return i < n - n / 10 ? i : static_cast<std::uint64_t>(random() % (n + 1)); }}};

template <class T>
std::vector<T> make(const input& what, std::size_t length, T (*convert)(std::uint64_t)) {
  std::mt19937_64 random(length);
  std::vector<T> values;
  for (std::size_t i = 0; i < length; ++i) values.push_back(convert(what.value(i, length, random)));
  return values;
}
double number(std::uint64_t x) { return static_cast<double>(x); }
std::string text(std::uint64_t x) { return std::to_string(x); }

TEST_CASE("parallel_sort sorts all kinds of inputs as std::sort does") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const auto& what : inputs) {
      CAPTURE(what.name);
      for (const auto length :
           std::initializer_list<std::size_t>{0, 1, 2, 3, 10, 24, 25, 100, 129, 1000, 5000, 50000}) {
        auto numbers = make(what, length, number);
        auto sorted = numbers;
        std::sort(sorted.begin(), sorted.end());
        p.run(parallel_sort(numbers));
        CHECK(numbers == sorted);
        if (length > 5000) continue;
        auto texts = make(what, length, text);
        auto sorted_texts = texts;
        std::sort(sorted_texts.begin(), sorted_texts.end());
        p.run(parallel_sort(texts.begin(), texts.end(), std::less<>(), {.grain = 100}));
        CHECK(texts == sorted_texts);
      }
    }
  }
}

TEST_CASE("parallel_sort takes all lengths around the sizes of its blocks") {
  pool p({.workers = 2});
  std::mt19937 random(1);
  for (std::size_t length = 0; length < 700; ++length) {
    std::vector<int> values;
    for (std::size_t i = 0; i < length; ++i) values.push_back(static_cast<int>(random() % (length + 1)));
    auto sorted = values;
    std::sort(sorted.begin(), sorted.end());
    p.run(parallel_sort(values, std::less<>(), {.grain = 64}));
    CHECK(values == sorted);
  }
}

TEST_CASE("parallel_sort takes a comparison, a deque, a span, an array and elements that are move-only") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    auto numbers = make(inputs[0], 20000, number);
    p.run(parallel_sort(std::span(numbers), std::greater<>()));
    CHECK(std::is_sorted(numbers.begin(), numbers.end(), std::greater<>()));

    std::deque<int> blocks;
    for (int i = 0; i < 20000; ++i) blocks.push_back(i * 7919 % 20011);
    p.run(parallel_sort(blocks));
    CHECK(std::is_sorted(blocks.begin(), blocks.end()));

    int array[] = {3, 1, 2};
    p.run(parallel_sort(array));
    CHECK(array[0] == 1);

    std::vector<std::unique_ptr<int>> boxes;
    for (int i = 0; i < 20000; ++i) boxes.push_back(std::make_unique<int>(i * 7919 % 20011));
    const auto less = [](const auto& a, const auto& b) { return *a < *b; };
    p.run(parallel_sort(boxes, less));
    CHECK(std::is_sorted(boxes.begin(), boxes.end(), less));
  }
}

TEST_CASE("parallel_sort compares n log n times at most, whatever the order is") {
  pool p({.workers = 2});
  for (const auto& what : inputs) {
    CAPTURE(what.name);
    const std::size_t length = 1 << 16;
    auto values = make(what, length, number);
    std::atomic<std::size_t> comparisons{0};
    p.run(parallel_sort(values, [&](double a, double b) {
      comparisons.fetch_add(1, std::memory_order_relaxed);
      return a < b;
    }));
    CHECK(comparisons < 2 * 16 * length);
  }
}

TEST_CASE("parallel_sort stays at n log n against an adversary that makes every pivot a bad one") {
  // McIlroy, "A Killer Adversary for Quicksort", 1999: values are decided while the sort compares.
  pool p({.workers = 1});
  for (const bool by_value : {true, false}) {
    const int length = 1 << 14;
    const int gas = length;
    std::vector<int> value(length, gas);
    int solid = 0;
    int candidate = 0;
    std::size_t comparisons = 0;
    const auto less = [&](int x, int y) {
      ++comparisons;
      auto& a = value[static_cast<std::size_t>(x)];
      auto& b = value[static_cast<std::size_t>(y)];
      if (a == gas && b == gas) (x == candidate ? a : b) = solid++;
      if (a == gas) {
        candidate = x;
      } else if (b == gas) {
        candidate = y;
      }
      return a < b;
    };
    std::vector<int> order;
    std::vector<std::unique_ptr<int>> boxes;
    for (int i = 0; i < length; ++i) {
      order.push_back(i);
      boxes.push_back(std::make_unique<int>(i));
    }
    if (by_value) {
      p.run(parallel_sort(order, less));
    } else {
      p.run(parallel_sort(boxes, [&less](const auto& a, const auto& b) { return less(*a, *b); }));
    }
    CHECK(comparisons < 6 * 14 * static_cast<std::size_t>(length));
  }
}

TEST_CASE("a comparison that throws comes out of parallel_sort, and no element is lost") {
  struct enough : std::exception {};
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (const int length : {10, 100, 5000}) {
      for (int after = 0; after < 60; ++after) {
        std::atomic<int> left{after * after};
        const auto count = [&left] {
          if (--left < 0) throw enough();
        };
        std::vector<std::unique_ptr<int>> boxes;
        std::vector<double> numbers;
        for (int i = 0; i < length; ++i) {
          boxes.push_back(std::make_unique<int>(i * 7919 % length));
          numbers.push_back(i * 7919 % length);
        }
        try {
          p.run(parallel_sort(boxes,
                              [&](const auto& a, const auto& b) {
                                count();
                                return *a < *b;
                              },
                              {.grain = 100}));
        } catch (const enough&) {
        }
        left = after * after;
        try {
          p.run(parallel_sort(numbers,
                              [&](double a, double b) {
                                count();
                                return a < b;
                              },
                              {.grain = 100}));
        } catch (const enough&) {
        }
        std::vector<int> seen(static_cast<std::size_t>(length));
        for (const auto& box : boxes) {
          REQUIRE(box != nullptr);
          ++seen[static_cast<std::size_t>(*box)];
        }
        for (const double x : numbers) ++seen[static_cast<std::size_t>(x)];
        std::vector<int> twice(static_cast<std::size_t>(length));
        for (int i = 0; i < length; ++i) twice[static_cast<std::size_t>(i * 7919 % length)] += 2;
        REQUIRE(seen == twice);
      }
    }
  }
}

TEST_CASE("a comparison that is no order leaves some permutation") {
  pool p({.workers = 2});
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> texts;
    std::vector<int> numbers;
    for (int i = 0; i < 3000; ++i) {
      texts.push_back(std::to_string(i));
      numbers.push_back(i);
    }
    const unsigned kind = static_cast<unsigned>(round) % 3;
    const auto nonsense = [kind, state = random()](const auto&, const auto&) mutable {
      state = state * 1664525 + 1013904223;
      return kind == 0 ? true : kind == 1 ? false : state % 65536 < 32768;
    };
    pool one({.workers = 1});
    one.run(parallel_sort(texts, nonsense));
    one.run(parallel_sort(numbers, nonsense));
    std::sort(numbers.begin(), numbers.end());
    for (int i = 0; i < 3000; ++i) REQUIRE(numbers[static_cast<std::size_t>(i)] == i);
    std::sort(texts.begin(), texts.end());
    CHECK(std::unique(texts.begin(), texts.end()) == texts.end());
  }
}

}  // namespace parallel_sort_cases
