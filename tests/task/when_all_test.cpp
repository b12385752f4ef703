// SPDX-License-Identifier: BSL-1.0
#include "children.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

using plait::as_completed;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::sync_wait;
using plait::task;
using plait::when_all;
using plait_test::fail;
using plait_test::make;
using plait_test::nothing;
using plait_test::number;
using plait_test::refer;

TEST_CASE("when_all joins tasks and futures of all kinds into a tuple in argument order") {
  struct helper {
    static task<int> use() {
      int x = 4;
      auto named = spawn(number(1));
      auto [a, b, c, d, e] =
          co_await when_all(std::move(named), make(2), nothing(), refer(x), co_await plait::fork(number(5)));
      static_assert(std::is_same_v<decltype(c), std::monostate>);
      static_assert(std::is_same_v<decltype(d), int&>);
      d = 40;
      co_return a + *b + x + e;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 1 + 2 + 40 + 5);
  }
}

TEST_CASE("when_all takes tasks and futures by name, too") {
  struct helper {
    static task<int> use() {
      auto f = spawn(number(1));
      auto t = number(2);
      const auto both = co_await when_all(f, t);
      CHECK_FALSE(f.valid());
      CHECK_FALSE(t.valid());
      std::vector<future<int>> many;
      for (int i = 0; i < 5; ++i) many.push_back(spawn(number(i)));
      const auto all = co_await when_all(many);
      co_return std::get<0>(both) + std::get<1>(both) + all[4];
    }
  };
  CHECK(sync_wait(helper::use()) == 7);
}

TEST_CASE("when_all takes shared futures, leaves them alone and copies what they hold") {
  struct helper {
    static task<int> three() {
      for (int i = 0; i < 5; ++i) co_await plait::yield();
      co_return 3;
    }
    static task<bool> use(int workers) {
      int x = 4;
      auto number_of = spawn(three()).share();
      const auto text = spawn([]() -> task<std::string> { co_return "text"; }()).share();
      auto referred = spawn(refer(x)).share();
      auto none = spawn(nothing()).share();
      auto [a, b, c, d, e] = co_await when_all(number_of, text, referred, std::move(none), number(1));
      static_assert(std::is_same_v<decltype(a), int> && std::is_same_v<decltype(b), std::string>);
      static_assert(std::is_same_v<decltype(c), int&> && std::is_same_v<decltype(d), std::monostate>);
      bool right = a == 3 && b == "text" && &c == &x && e == 1;
      right &= number_of.valid() && text.valid() && referred.valid() && number_of.get() == 3 && text.get() == "text";
      std::vector<plait::shared_future<int>> many(3, number_of);
      const std::vector<int> threes(3, 3);
      for (int i = 0; i < workers; ++i) right &= co_await when_all(many) == threes;
      right &= many[2].valid() && (co_await when_all(plait::fail_fast, many)).size() == 3;
      const auto ends = co_await plait::when_all_settled(many[0], many[1]);
      right &= ends.size() == 2 && ends[1].value() == 3 && many[0].valid();
      auto failing = spawn(plait_test::fail("shared", 0)).share();
      for (int i = 0; i < 2; ++i) {
        try {
          co_await when_all(number_of, failing);
          right = false;
        } catch (const std::runtime_error& wrong) {
          right &= std::string(wrong.what()) == "shared";
        }
      }
      co_return right;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use(workers)));
  }
}

TEST_CASE("when_all of a range gives a vector in the range's order") {
  struct helper {
    static task<long> use() {
      std::vector<task<int>> tasks;
      for (int i = 0; i < 1000; ++i) tasks.push_back(number(i));
      const auto results = co_await when_all(std::move(tasks));
      long wrong = 0;
      for (int i = 0; i < 1000; ++i) wrong += results[static_cast<std::size_t>(i)] != i;

      std::list<future<>> voids;
      for (int i = 0; i < 10; ++i) voids.push_back(spawn(nothing()));
      const auto none = co_await when_all(std::move(voids));
      static_assert(std::is_same_v<decltype(none), const std::vector<std::monostate>>);
      wrong += none.size() != 10;

      int x[3] = {1, 2, 3};
      std::deque<task<int&>> references;
      for (int& r : x) references.push_back(refer(r));
      auto referred = co_await when_all(std::move(references));
      for (auto& r : referred) r.get() += 1;
      wrong += x[2] != 4;

      std::vector<task<std::unique_ptr<int>>> moved;
      moved.push_back(make(3));
      auto pointers = co_await when_all(std::span(moved));
      wrong += *pointers[0] != 3;

      const auto empty = co_await when_all(std::vector<task<int>>());
      wrong += !empty.empty();
      co_return wrong;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 0);
  }
}

TEST_CASE("when_all rethrows the first exception in argument order, after all children have ended") {
  struct helper {
    static task<> slow(std::atomic<int>& ended) {
      for (int i = 0; i < 50; ++i) co_await plait::yield();
      ++ended;
    }
    static task<std::string> tuple(std::atomic<int>& ended) {
      try {
        co_await when_all(slow(ended), fail("second", 20), fail("third", 0), slow(ended));
      } catch (const std::runtime_error& e) {
        co_return e.what() + std::to_string(ended.load());
      }
      co_return "no exception";
    }
    static task<std::string> range(std::atomic<int>&) {
      std::vector<task<int>> tasks;
      tasks.push_back(number(1));
      tasks.push_back(fail("second", 20));
      tasks.push_back(fail("third", 0));
      try {
        co_await when_all(std::move(tasks));
      } catch (const std::runtime_error& e) {
        co_return e.what();
      }
      co_return "no exception";
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ended{0};
      REQUIRE(p.run(helper::tuple(ended)) == "second2");
      REQUIRE(p.run(helper::range(ended)) == "second");
    }
  }
}

TEST_CASE("when_all starts its tasks at the same time") {
  struct helper {
    static task<> meet(std::atomic<int>& arrived) {
      ++arrived;
      while (arrived < 3) co_await plait::yield();
    }
    static task<> use() {
      std::atomic<int> arrived{0};
      co_await when_all(meet(arrived), meet(arrived), meet(arrived));
    }
  };
  pool p({.workers = 1});
  p.run(helper::use());
}

TEST_CASE("as_completed gives each future once, in order of completion, with its index") {
  struct helper {
    static task<int> after(std::atomic<int>& turn, int mine) {
      while (turn != mine) co_await plait::yield();
      co_return 10 * mine;
    }
    static task<bool> use() {
      constexpr int n = 20;
      std::atomic<int> turn{-1};
      std::vector<future<int>> futures;
      for (int i = 0; i < n; ++i) futures.push_back(spawn(after(turn, (7 * i) % n)));
      auto range = as_completed(std::move(futures));
      bool right = range.left() == n;
      for (int k = 0; k < n; ++k) {
        turn = k;
        auto c = co_await plait::next(range);
        right = right && c && (7 * c->index) % n == static_cast<std::size_t>(k) && c->future.done();
        const int got = co_await c->future;
        right = right && got == 10 * k;
      }
      const auto end = co_await plait::next(range);
      const auto still = co_await plait::next(range);
      co_return right && !end && !still && range.left() == 0;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()));
  }
}

TEST_CASE("as_completed in a loop sees results and exceptions of many tasks") {
  struct helper {
    static task<int> work(int i) {
      for (int k = 0; k < i % 5; ++k) co_await plait::yield();
      if (i % 10 == 3) throw std::runtime_error("three");
      co_return i;
    }
    static task<std::size_t> use(bool forked) {
      std::vector<future<int>> futures;
      for (int i = 0; i < 300; ++i) {
        if (forked) {
          futures.push_back(co_await plait::fork(work(i)));
        } else {
          futures.push_back(spawn(work(i)));
        }
      }
      auto range = as_completed(futures);
      std::set<std::size_t> seen;
      int errors = 0;
      while (auto c = co_await plait::next(range)) {
        seen.insert(c->index);
        if (c->future.exception()) {
          ++errors;
        } else if (c->future.get() != static_cast<int>(c->index)) {
          co_return std::size_t{0};
        }
      }
      co_return seen.size() + static_cast<std::size_t>(errors);
    }
  };
  for (const int workers : {1, 2, 3}) {
    pool p({.workers = workers});
    for (int i = 0; i < 10; ++i) REQUIRE(p.run(helper::use(i % 2 == 0)) == 330);
  }
}

TEST_CASE("completions that are dropped early detach the tasks that are left") {
  struct helper {
    static task<> use(std::atomic<int>& ended) {
      std::vector<future<>> futures;
      for (int i = 0; i < 50; ++i) {
        futures.push_back(spawn([&ended]() -> task<> {
          co_await plait::yield();
          ++ended;
        }));
      }
      auto range = as_completed(std::move(futures));
      auto first = co_await plait::next(range);
      co_await first->future;
    }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> ended{0};
    p.run(helper::use(ended));
    REQUIRE(ended == 50);
  }
}

TEST_CASE("as_completed of nothing ends at once") {
  struct helper {
    static task<bool> use() {
      auto range = as_completed(std::vector<future<int>>());
      auto c = co_await plait::next(range);
      co_return !c;
    }
  };
  CHECK(sync_wait(helper::use()));
}

TEST_CASE("when_all of nothing is done at once") {
  pool p({.workers = 1});
  CHECK(p.run([]() -> task<bool> { co_return (co_await plait::when_all()) == std::tuple<>(); }()));
}
