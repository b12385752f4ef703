// SPDX-License-Identifier: BSL-1.0
#include "children.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using plait::fork;
using plait::future;
using plait::pool;
using plait::promise;
using plait::settled;
using plait::spawn;
using plait::task;
using plait::when_all_settled;
using plait_test::fail;
using plait_test::make;
using plait_test::nothing;
using plait_test::number;
using plait_test::refer;

namespace when_all_settled_cases {

task<> fail_with_nothing() {
  throw std::domain_error("nothing");
  co_return;
}

template <class T>
std::string text_of(const settled<T>& s) {
  try {
    static_cast<void>(s.value());
  } catch (const std::exception& e) {
    return e.what();
  }
  return "a value";
}

TEST_CASE("when_all_settled gives how each task and future has ended") {
  struct helper {
    static task<bool> use() {
      int x = 4;
      auto named = spawn(number(1));
      auto [a, b, c, d, e, f, g] = co_await when_all_settled(named, make(2), fail("no", 3), nothing(), refer(x),
                                                             co_await fork(number(5)), fail_with_nothing());
      static_assert(std::is_same_v<decltype(a), settled<int>>);
      static_assert(std::is_same_v<decltype(d), settled<>>);
      static_assert(std::is_same_v<decltype(e), settled<int&>>);
      static_assert(std::is_same_v<decltype(std::as_const(e).value()), int&>);
      bool right = !named.valid() && a.has_value() && a.value() == 1 && a.exception() == nullptr;
      right &= *b.value() == 2 && *std::move(b).value() == 2;
      right &= !c && !c.has_value() && c.exception() != nullptr && text_of(c) == "no";
      right &= d.has_value() && text_of(d) == "a value";
      e.value() += 1;
      std::move(e).value() += 1;
      right &= x == 6 && f.value() == 5 && !g.has_value() && text_of(g) == "nothing";
      const auto copy = c;
      right &= text_of(copy) == "no";
      try {
        static_cast<void>(std::move(c).value());
        right = false;
      } catch (const std::runtime_error&) {
      }
      co_return right;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()));
  }
}

TEST_CASE("when_all_settled of tasks of one type gives what can be indexed") {
  struct helper {
    static task<int> use() {
      auto ends = co_await when_all_settled(number(1), fail("no", 3), number(3));
      static_assert(std::is_same_v<decltype(ends), std::array<settled<int>, 3>>);
      auto [first, second, third] = ends;
      int sum = first.value() + third.value() + static_cast<int>(second.has_value());
      for (const auto& end : ends) sum += end.has_value() ? 10 : 100;
      co_return sum + std::get<2>(ends).value();
    }
  };
  CHECK(plait::sync_wait(helper::use()) == 4 + 120 + 3);
}

TEST_CASE("when_all_settled of a range gives a vector in the range's order, when all have ended") {
  struct helper {
    static task<> slow(std::atomic<int>& ended) {
      for (int i = 0; i < 20; ++i) co_await plait::yield();
      if (++ended % 2 == 0) throw std::runtime_error("even");
    }
    static task<int> use() {
      std::vector<task<int>> tasks;
      for (int i = 0; i < 100; ++i) tasks.push_back(i % 10 == 3 ? fail("three", i % 4) : number(i));
      const auto ends = co_await when_all_settled(std::move(tasks));
      int wrong = 0;
      for (int i = 0; i < 100; ++i) {
        const auto& s = ends[static_cast<std::size_t>(i)];
        wrong += i % 10 == 3 ? s.has_value() || text_of(s) != "three" : !s.has_value() || s.value() != i;
      }
      std::atomic<int> ended{0};
      std::list<future<>> futures;
      for (int i = 0; i < 10; ++i) futures.push_back(spawn(slow(ended)));
      int failed = 0;
      for (const auto& s : co_await when_all_settled(futures)) failed += !s.has_value();
      wrong += ended != 10;
      wrong += failed != 5;
      wrong += !(co_await when_all_settled(std::vector<task<>>())).empty();
      co_await when_all_settled();
      co_return wrong;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 0);
  }
}

TEST_CASE("exceptions that when_all_settled gives are not reported") {
  std::atomic<int> reported{0};
  auto before =
      plait::set_unobserved_exception_handler([&](const std::exception_ptr&, std::string_view) { ++reported; });
  struct helper {
    static task<int> use() {
      promise<int> p;
      auto broken = p.get_future();
      p = promise<int>();
      const auto ends = co_await when_all_settled(fail("a", 0), spawn(fail("b", 1)), broken);
      co_return std::get<0>(ends).has_value() + std::get<1>(ends).has_value() + std::get<2>(ends).has_value();
    }
  };
  CHECK(plait::sync_wait(helper::use()) == 0);
  CHECK(reported == 0);
  plait::set_unobserved_exception_handler(before);
}

}  // namespace when_all_settled_cases
