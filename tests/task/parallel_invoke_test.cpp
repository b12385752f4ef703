// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include "waiting.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

using plait::parallel_invoke;
using plait::pool;
using plait::sync_wait;
using plait::task;

namespace parallel_invoke_cases {
const int worker_counts[] = {1, 2, 8};

int plain() { return 3; }
task<std::unique_ptr<int>> coroutine() {
  co_await plait::yield();
  co_return std::make_unique<int>(4);
}

struct quick {
  static task<> sort(int* first, int* last) {  // a parallel quicksort
    if (last - first < 2) co_return;
    int* middle = first;
    for (int* i = first + 1; i != last; ++i) {
      if (*i < *first) std::swap(*++middle, *i);
    }
    std::swap(*first, *middle);
    co_await parallel_invoke(sort(first, middle), sort(middle + 1, last));
  }
};

TEST_CASE("parallel_invoke calls functions, lambdas and coroutines, and takes tasks and futures") {
  struct helper {
    static task<int> use() {
      const auto named = [] { return 2; };
      bool called = false;
      auto results = co_await parallel_invoke([] { return 1; }, named, plain, coroutine, [&called] { called = true; },
                                              coroutine(), plait::spawn(plain));
      static_assert(std::is_same_v<std::tuple_element_t<4, decltype(results)>, std::monostate>);
      CHECK(called);
      co_return std::get<0>(results) + std::get<1>(results) + std::get<2>(results) + *std::get<3>(results) +
          *std::get<5>(results) + std::get<6>(results);
    }
  };
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 1 + 2 + 3 + 4 + 4 + 3);
  }
}

TEST_CASE("parallel_invoke keeps callables that are move-only, and calls nothing before it is awaited") {
  auto number = std::make_unique<int>(5);
  bool called = false;
  auto t = parallel_invoke([n = std::move(number)] { return *n; }, [&called] { called = true; });
  CHECK_FALSE(called);
  CHECK(std::get<0>(sync_wait(std::move(t))) == 5);
  CHECK(called);
}

TEST_CASE("all that parallel_invoke calls has ended when the first exception in argument order comes out") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ended{0};
      const auto fail = [&ended](const char* what) {
        return [&ended, what] {
          ++ended;
          throw std::runtime_error(what);
        };
      };
      CHECK_THROWS_WITH_AS(p.run(parallel_invoke([&] { ++ended; }, fail("first"), fail("second"), [&] { ++ended; })),
                           "first", std::runtime_error);
      CHECK(ended == 4);
    }
  }
}

TEST_CASE("callables of parallel_invoke run at the same time where workers are free") {
  pool p({.workers = 2});
  std::atomic<int> arrived{0};
  const auto meet = [&] {
    ++arrived;
    return plait_test::wait_until([&] { return arrived >= 2; }, "the other callable");
  };
  const auto [a, b] = p.run(parallel_invoke(meet, meet));
  CHECK(a);
  CHECK(b);
}

TEST_CASE("parallel_invoke nests") {
  for (const int workers : worker_counts) {
    pool p({.workers = workers});
    std::vector<int> values;
    for (int i = 0; i < 2000; ++i) values.push_back(i * 7919 % 2003);
    p.run(quick::sort(values.data(), values.data() + values.size()));
    for (std::size_t i = 1; i < values.size(); ++i) CHECK(values[i - 1] <= values[i]);
  }
}

}  // namespace parallel_invoke_cases
