// SPDX-License-Identifier: BSL-1.0

// Names of tasks.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "children.hpp"

using plait::fork;
using plait::named;
using plait::pool;
using plait::spawn;
using plait::sync_wait;
using plait::task;

namespace named_cases {

/// The names under which exceptions were reported while it lives.
class reports {
 public:
  reports() {
    before_ = plait::set_unobserved_exception_handler([this](std::exception_ptr e, std::string_view name) {
      const std::lock_guard lock(mutex_);
      names_.emplace_back(name);
      try {
        std::rethrow_exception(std::move(e));
      } catch (const std::exception& x) {
        texts_.emplace_back(x.what());
      }
    });
  }
  ~reports() { plait::set_unobserved_exception_handler(std::move(before_)); }
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  plait::unobserved_exception_handler before_;
  std::mutex mutex_;
  std::vector<std::string> names_, texts_;
};

const std::string long_name = "a name that is longer than what a string keeps in itself, twice over";

TEST_CASE("the exception of a detached task is reported under the name that it was given") {
  reports seen;
  {
    pool p({.workers = 1});
    static_cast<void>(p.spawn(named(long_name, plait_test::fail("no data", 2))));
  }
  CHECK(seen.names() == std::vector{long_name});
  CHECK(seen.texts() == std::vector<std::string>{"no data"});
}

TEST_CASE("a named task can be spawned, forked, awaited and run, and gives what the task gives") {
  int x = 1;
  CHECK(sync_wait(named("number", plait_test::number(2))) == 2);
  CHECK(&sync_wait(named("reference", plait_test::refer(x))) == &x);
  sync_wait([](int& target) -> task<> {
    co_await named("nothing", plait_test::nothing());
    auto owned = co_await spawn(named("owner", plait_test::make(3)));
    CHECK(*owned == 3);
    auto forked = co_await fork(named("reference", plait_test::refer(target)));
    int& same = co_await forked;
    CHECK(&same == &target);
    auto joined = co_await plait::when_all(named("one", plait_test::number(1)), named("two", plait_test::number(2)));
    CHECK(std::get<0>(joined) + std::get<1>(joined) == 3);
  }(x));
}

TEST_CASE("the exception of a named task that somebody sees is not reported") {
  reports seen;
  CHECK_THROWS_WITH_AS(sync_wait(named("seen", plait_test::fail("seen", 1))), "seen", std::runtime_error);
  sync_wait([]() -> task<> {
    auto f = co_await fork(named("forked", plait_test::fail("forked", 0)));
    CHECK_THROWS_AS(f.result(), std::runtime_error);
    auto g = spawn(named("spawned", plait_test::fail("spawned", 0)));
    bool threw = false;
    try {
      co_await g;
    } catch (const std::runtime_error&) {
      threw = true;
    }
    CHECK(threw);
  }());
  CHECK(seen.names().empty());
}

TEST_CASE("a dropped fork is reported once, under its name") {
  reports seen;
  sync_wait([]() -> task<> {
    { const auto f = co_await fork(named("dropped", plait_test::fail("nobody looks", 1))); }
  }());
  CHECK(seen.names() == std::vector<std::string>{"dropped"});
}

TEST_CASE("a named task that is cancelled before it starts, or never started, reports nothing") {
  reports seen;
  {
    pool p({.workers = 1});
    p.run([]() -> task<> {
      auto f = spawn(named("cancelled", plait_test::fail("never", 0)));
      CHECK(f.cancel());
      CHECK(f.cancelled());
      co_return;
    }());
    const auto never = named("never", plait_test::fail("never", 0));
    CHECK(never.valid());
  }
  CHECK(seen.names().empty());
}

TEST_CASE("a name of a name is the outer one") {
  reports seen;
  {
    pool p({.workers = 2});
    static_cast<void>(p.spawn(named("outer", named("inner", plait_test::fail("x", 0)))));
  }
  CHECK(seen.names() == std::vector<std::string>{"outer"});
}

TEST_CASE("a named task without a coroutine is an error where it is started") {
  auto t = plait_test::number(1);
  auto taken = std::move(t);
  CHECK_THROWS_AS(sync_wait(named("empty", std::move(t))), plait::error);
  CHECK(sync_wait(std::move(taken)) == 1);
}

TEST_CASE("many named tasks in many threads report their own names") {
  reports seen;
  {
    pool p({.workers = 3});
    for (int i = 0; i < 200; ++i) {
      static_cast<void>(p.spawn(named(long_name + std::to_string(i), plait_test::fail("x", i % 3))));
    }
  }
  auto names = seen.names();
  CHECK(names.size() == 200);
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

}  // namespace named_cases
