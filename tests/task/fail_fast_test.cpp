// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "children.hpp"
#include "support/waiting.hpp"

using namespace std::chrono_literals;
using plait::fail_fast;
using plait::future;
using plait::pool;
using plait::promise;
using plait::spawn;
using plait::task;
using plait::when_all;
using plait_test::fail;
using plait_test::make;
using plait_test::nothing;
using plait_test::number;
using plait_test::refer;

namespace fail_fast_cases {

/// Goes on until it is asked to stop.
task<int> endless(std::atomic<int>& ended) {
  while (!plait::this_task::cancelled()) co_await plait::yield();
  ++ended;
  co_return 0;
}
task<int> sleeper() {
  co_await plait::sleep_for(1h);
  co_return 0;
}

TEST_CASE("when_all(fail_fast, ...) gives results like when_all") {
  struct helper {
    static task<int> use() {
      int x = 4;
      auto named = spawn(number(1));
      auto [a, b, c, d, e] =
          co_await when_all(fail_fast, named, make(2), nothing(), refer(x), co_await plait::fork(number(5)));
      static_assert(std::is_same_v<decltype(c), std::monostate>);
      d = 40;
      std::vector<task<int>> tasks;
      for (int i = 0; i < 100; ++i) tasks.push_back(number(i));
      const auto all = co_await when_all(fail_fast, std::move(tasks));
      const auto none = co_await when_all(fail_fast, std::vector<future<>>());
      co_await when_all(fail_fast);
      co_return a + *b + x + e + all[99] + static_cast<int>(none.size());
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 1 + 2 + 40 + 5 + 99);
  }
}

TEST_CASE("a failure stops the others, which are joined, and its exception is the one that is thrown") {
  std::atomic<int> reported{0};
  auto before =
      plait::set_unobserved_exception_handler([&](const std::exception_ptr&, std::string_view) { ++reported; });
  struct helper {
    static task<std::string> tuple(std::atomic<int>& ended, int yields) {
      try {
        co_await when_all(fail_fast, endless(ended), sleeper(), fail("cause", yields), spawn(endless(ended)),
                          spawn(sleeper()));
      } catch (const std::runtime_error& e) {
        co_return e.what();
      }
      co_return "no exception";
    }
    static task<std::string> range(std::atomic<int>& ended, int yields) {
      std::vector<future<int>> futures;
      futures.push_back(spawn(endless(ended)));
      futures.push_back(spawn(fail("cause", yields)));
      for (int i = 0; i < 20; ++i) futures.push_back(spawn(sleeper()));
      futures.push_back(co_await plait::fork(endless(ended)));
      try {
        co_await when_all(fail_fast, futures);
      } catch (const std::runtime_error& e) {
        co_return e.what();
      }
      co_return "no exception";
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 50; ++i) {
      std::atomic<int> ended{0};
      REQUIRE(p.run(helper::tuple(ended, i % 7)) == "cause");
      REQUIRE(p.run(helper::range(ended, i % 7)) == "cause");
    }
  }
  CHECK(reported == 0);
  plait::set_unobserved_exception_handler(before);
}

TEST_CASE("a task that was not started when another one failed never is") {
  struct helper {
    static task<> count(std::atomic<int>& n) {
      ++n;
      co_return;
    }
    static task<int> use() {
      std::atomic<int> ran{0};
      for (int i = 0; i < 2; ++i) {
        try {
          if (i == 0) {
            co_await when_all(fail_fast, count(ran), fail("at once", 0), count(ran));
          } else {
            std::vector<task<>> tasks;
            tasks.push_back(count(ran));
            tasks.push_back([]() -> task<> { co_await fail("at once", 0); }());
            for (int k = 0; k < 10; ++k) tasks.push_back(count(ran));
            co_await when_all(fail_fast, std::move(tasks));
          }
          ran += 100;
        } catch (const std::runtime_error&) {
        }
      }
      co_return ran;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::use()) == 2);
}

TEST_CASE("a failure cancels promises, and the end of a pool too") {
  struct helper {
    static task<> use(future<int> f, bool fails, std::atomic<int>& how) {
      auto other = fails ? fail("cause", 3) : number(1);
      try {
        co_await when_all(fail_fast, f, other);
      } catch (const plait::cancelled_error&) {
        how = 1;
      } catch (const std::runtime_error&) {
        how = 2;
      }
    }
  };
  for (const int workers : {1, 2}) {
    for (const bool fails : {true, false}) {
      promise<int> p;
      std::atomic<int> how{0};
      {
        pool home({.workers = workers});
        static_cast<void>(home.spawn(helper::use(p.get_future(), fails, how)));
      }
      CHECK(how == (fails ? 2 : 1));
      CHECK_THROWS_AS(p.set_value(1), plait::error);
    }
  }
}

}  // namespace fail_fast_cases
