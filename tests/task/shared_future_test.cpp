// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/waiting.hpp"

using namespace std::chrono_literals;
using plait::future;
using plait::pool;
using plait::promise;
using plait::shared_future;
using plait::spawn;
using plait::task;

namespace shared_future_cases {

/// A task that ends when it is told to, without blocking its worker.
struct gate {
  std::atomic<bool> open{false};
  task<int> wait(int result) {
    while (!open) co_await plait::yield();
    co_return result;
  }
  task<int> fail() {
    while (!open) co_await plait::yield();
    throw std::domain_error("shared");
  }
};

task<int> read(shared_future<int> f) { co_return co_await f; }

TEST_CASE("copies of a shared_future refer to one task, and see one result") {
  pool p({.workers = 1});
  gate g;
  auto f = p.spawn(g.wait(3));
  shared_future<int> a = f.share();
  CHECK_FALSE(f.valid());
  shared_future<int> b = a, c;
  CHECK_FALSE(c.valid());
  c = b;
  CHECK_FALSE(a.done());
  CHECK_FALSE(a.wait_for(1ms));
  CHECK_THROWS_AS(a.get_for(1ms), plait::timeout_error);
  g.open = true;
  c.wait();
  CHECK(a.done());
  CHECK_FALSE(a.running());
  CHECK(&a.get() == &b.get());
  CHECK(&a.get() == &c.result());
  CHECK(&a.get() == &a.get_for(1s));
  CHECK(a.get() == 3);
  CHECK(a.exception() == nullptr);
  auto moved = std::move(a);
  CHECK_FALSE(a.valid());
  CHECK(moved.get() == 3);
  auto& same = moved;
  moved = same;
  CHECK(moved.get() == 3);
}

TEST_CASE("a shared_future is used like a future of every kind of result") {
  struct helper {
    static task<int> use() {
      int x = 1;
      shared_future<int&> reference = spawn([&x]() -> int& { return x; }).share();
      static_assert(std::is_same_v<decltype(reference.get()), int&>);
      (co_await reference) += 1;
      (co_await shared_future<int&>(reference)) += 1;
      reference.get() += 1;
      shared_future<> nothing = spawn([] {});
      co_await nothing;
      co_await shared_future<>(nothing);
      nothing.get();
      nothing.result();
      shared_future<std::unique_ptr<int>> movable = spawn([] { return std::make_unique<int>(5); }).share();
      const std::unique_ptr<int>& there = co_await movable;
      shared_future<std::string> text = spawn([] { return std::string("copied"); }).share();
      std::string copy = co_await shared_future<std::string>(text);
      copy += co_await spawn([] { return std::string("!"); }).share();
      copy += spawn([] { return std::string("?"); }).share().get();
      co_return x + *there + *movable.get() + (copy == "copied!?" ? 100 : 0) + (text.get() == "copied" ? 1000 : 0);
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()) == 4 + 5 + 5 + 100 + 1000);
  }
}

TEST_CASE("every use of an empty shared_future is an error") {
  shared_future<int> f;
  CHECK_THROWS_AS(f.get(), plait::error);
  CHECK_THROWS_AS(f.wait(), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.wait_for(1ms)), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.done()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(f.exception()), plait::error);
  CHECK_THROWS_AS(f.add_done_callback([](const future<int>&) {}), plait::error);
  CHECK_THROWS_AS(plait::sync_wait(read(f)), plait::error);
  CHECK_THROWS_AS(static_cast<void>(future<int>().share()), plait::error);
  CHECK_FALSE(shared_future<int>(future<int>()).valid());
}

TEST_CASE("an exception reaches every reader, and is reported only if it reached none") {
  std::atomic<int> reported{0};
  auto before =
      plait::set_unobserved_exception_handler([&](const std::exception_ptr&, std::string_view) { ++reported; });
  {
    gate g;  // outlives the pool, whose last task looks at it
    pool p({.workers = 2});
    auto f = p.spawn(g.fail()).share();
    std::vector<future<int>> readers;
    for (int i = 0; i < 10; ++i) readers.push_back(p.spawn(read(f)));
    g.open = true;
    for (auto& r : readers) CHECK_THROWS_WITH_AS(r.get(), "shared", std::domain_error);
    CHECK_THROWS_AS(f.get(), std::domain_error);
    CHECK_THROWS_AS(std::rethrow_exception(f.exception()), std::domain_error);
    CHECK(reported == 0);
    {
      auto lost = p.spawn(g.fail()).share();
      auto copy = lost;
    }
  }
  CHECK(reported == 1);
  plait::set_unobserved_exception_handler(before);
}

TEST_CASE("many tasks and threads read one shared_future at once") {
  struct helper {
    static task<long> look(shared_future<std::vector<int>> f, int how) {
      if (how % 4 == 0) co_await plait::yield();
      if (how % 3 == 0) co_return static_cast<long>(f.get().size());
      if (how % 3 == 1) co_return static_cast<long>((co_await f).size());
      co_return static_cast<long>((co_await std::move(f)).size());
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int round = 0; round < 20; ++round) {
      promise<std::vector<int>> source;
      auto f = source.get_future().share();
      std::atomic<long> sum{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([f, i, &sum] {
          if (i == 0) {
            while (!f.wait_for(10us)) {
            }
          } else if (i == 1) {
            f.add_done_callback(
                [&sum](const future<std::vector<int>>& done) { sum += static_cast<long>(done.result().size()); });
            f.wait();
          }
          sum += static_cast<long>(f.get().size());
        });
      }
      std::vector<future<long>> readers;
      for (int i = 0; i < 300; ++i) readers.push_back(p.spawn(helper::look(f, i)));
      f = {};
      source.set_value(std::vector<int>(2));
      for (auto& r : readers) sum += r.get();
      for (auto& t : threads) t.join();
      REQUIRE(sum == 2 * (300 + 4));
    }
  }
}

TEST_CASE("more handles than a cell could count keep one task") {
  pool p({.workers = 2});
  gate g;
  auto f = p.spawn(g.wait(1)).share();
  std::vector<shared_future<int>> many(1000, f);
  std::vector<future<int>> readers;
  for (const auto& each : many) readers.push_back(p.spawn(read(each)));
  many.clear();
  g.open = true;
  for (auto& r : readers) CHECK(r.get() == 1);
  CHECK(f.get() == 1);
}

TEST_CASE("a worker that waits for a queued shared task runs it, if no other waiter does") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 100; ++i) {
      std::atomic<int> runs{0};
      p.spawn([&] {
         auto f = spawn([&] { return ++runs; }).share();
         auto other = spawn([f] { return f.get(); });
         CHECK(f.get() == 1);
         CHECK(other.get() == 1);
       }).get();
      REQUIRE(runs == 1);
    }
  }
}

TEST_CASE("the last handle of a shared fork waits for the child") {
  struct helper {
    static task<> child(std::atomic<int>& ended) {
      for (int i = 0; i < 30; ++i) co_await plait::yield();
      ++ended;
    }
    static task<> parent(std::atomic<int>& ended) {
      {
        auto f = (co_await plait::fork(child(ended))).share();
        auto g = f;
        f = {};
        co_await plait::yield();
      }
      CHECK(ended == 1);
      try {
        std::vector<shared_future<>> several(3, (co_await plait::fork(child(ended))).share());
        throw 1;
      } catch (int) {
        CHECK(ended == 2);
      }
      auto f = (co_await plait::fork(child(ended))).share();
      auto elsewhere = spawn([mine = std::move(f)]() mutable { mine = {}; });  // the last one, in another task
      co_await elsewhere;
      CHECK(ended == 3);
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> ended{0};
    p.run(helper::parent(ended));
  }
}

TEST_CASE("the last handle of a shared spawn detaches it") {
  std::atomic<int> ended{0};
  {
    pool p({.workers = 1});
    auto f = p.spawn([&] { ++ended; }).share();
    auto g = f;
  }
  CHECK(ended == 1);
}

TEST_CASE("the result of a shared task ends with the last handle") {
  const auto value = std::make_shared<int>(1);
  pool p({.workers = 1});
  auto a = p.spawn([value] { return value; }).share();
  {
    auto b = a;
    a = {};
    CHECK(*b.get() == 1);
  }
  plait_test::wait_until([&] { return value.use_count() == 1; }, "the task to let go");
}

}  // namespace shared_future_cases
