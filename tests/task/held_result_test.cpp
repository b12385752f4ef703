// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using plait::fork;
using plait::future;
using plait::pool;
using plait::task;

// On one worker a forked child that does not suspend has ended when its parent goes on: its future holds the result.

namespace held_result_cases {

enum class colour { red, green };
int number = 7;

template <class T>
task<T> giving(T value) {
  co_return value;
}
task<void> giving_nothing() { co_return; }
task<int&> giving_a_reference() { co_return number; }

/// Runs on a pool of one worker.
template <class T>
T alone(task<T> t) {
  pool one({.workers = 1});
  return one.run(std::move(t));
}

TEST_CASE("what has room in a future, and what has not") {
  using plait::detail::is_small_result;
  CHECK(is_small_result<long>);
  CHECK(is_small_result<double>);
  CHECK(is_small_result<colour>);
  CHECK(is_small_result<const char*>);
  CHECK(is_small_result<std::string&>);
  CHECK(is_small_result<void>);
  CHECK_FALSE(is_small_result<std::string>);
  CHECK_FALSE(is_small_result<std::unique_ptr<int>>);
  CHECK_FALSE(is_small_result<long double>);
}

TEST_CASE("a future may be a member of the type that it gives") {
  struct chain {
    int value = 0;
    future<chain> rest;
  };
  const auto sum = [](chain c) -> task<int> {
    int total = c.value;
    for (auto rest = std::move(c.rest); rest.valid();) {
      chain next = co_await rest;
      total += next.value;
      rest = std::move(next.rest);
    }
    co_return total;
  };
  const auto make = [](auto self, int n) -> task<chain> {
    chain c;
    c.value = n;
    if (n > 0) c.rest = co_await fork(self(self, n - 1));
    co_return c;
  };
  const auto all = [&]() -> task<int> {
    chain first = co_await make(make, 10);
    const int total = co_await sum(std::move(first));
    co_return total;
  };
  CHECK(alone(all()) == 55);
}

TEST_CASE("each kind of result comes out of a fork that has ended at once") {
  const auto body = []() -> task<void> {
    future<long> a = co_await fork(giving(1L << 40));
    future<bool> b = co_await fork(giving(true));
    future<double> c = co_await fork(giving(-0.5));
    future<colour> d = co_await fork(giving(colour::green));
    future<const char*> e = co_await fork(giving("text"));
    future<int&> f = co_await fork(giving_a_reference());
    future<> g = co_await fork(giving_nothing());
    future<std::string> h = co_await fork(giving(std::string(100, 'x')));
    CHECK(co_await a == 1L << 40);
    CHECK(co_await b);
    const double half = co_await c;
    CHECK(half == -0.5);
    const colour green = co_await d;
    CHECK(green == colour::green);
    const std::string_view text = co_await e;
    CHECK(text == "text");
    int& same = co_await f;
    CHECK(&same == &number);
    co_await g;
    const std::string long_text = co_await h;
    CHECK(long_text == std::string(100, 'x'));
    CHECK_FALSE(a.valid());
    CHECK_FALSE(g.valid());
    CHECK_THROWS_WITH_AS(a.get(), doctest::Contains("refers to no task"), plait::error);
  };
  alone(body());
}

TEST_CASE("what can be asked of a future that holds its result") {
  const auto body = []() -> task<void> {
    future<int> f = co_await fork(giving(3));
    CHECK(f.valid());
    CHECK(f.done());
    CHECK_FALSE(f.running());
    CHECK_FALSE(f.cancel());
    CHECK_FALSE(f.cancelled());
    CHECK(f.exception() == nullptr);
    f.wait();
    CHECK(f.wait_for(0s));
    int calls = 0;
    f.add_done_callback([&](const future<int>& done) { calls += done.done() ? done.result() : 100; });
    CHECK(calls == 3);
    const int& result = f.result();
    future<int> moved = std::move(f);
    CHECK_FALSE(f.valid());
    CHECK(&moved.result() == &result);  // the result of a future stays where it is
    CHECK(moved.get_for(1s) == 3);
    CHECK_FALSE(moved.valid());
    future<> nothing = co_await fork(giving_nothing());
    nothing.result();
    nothing.get();
    CHECK_THROWS_AS(nothing.done(), plait::error);
    future<int&> reference = co_await fork(giving_a_reference());
    CHECK(&reference.result() == &number);
    CHECK(&reference.get() == &number);
  };
  alone(body());
}

TEST_CASE("assigning futures that hold results, and others, over each other") {
  const auto body = []() -> task<void> {
    future<int> held = co_await fork(giving(1));
    future<int> queued = plait::spawn(giving(2));
    queued = std::move(held);  // the spawned task is detached
    CHECK(queued.done());
    CHECK_FALSE(held.valid());
    auto& same = queued;
    queued = std::move(same);
    CHECK(queued.valid());
    CHECK(queued.get() == 1);
    held = co_await fork(giving(3));
    held = co_await fork(giving(4));
    CHECK(co_await held == 4);
  };
  alone(body());
}

TEST_CASE("the child's frame ends before its parent goes on, where the result has room in the future") {
  const auto body = []() -> task<void> {
    auto watched = std::make_shared<int>(1);
    const auto use = [](std::shared_ptr<int> copy) -> task<int> { co_return *copy; };
    future<int> f = co_await fork(use(watched));
    CHECK(watched.use_count() == 1);
    CHECK(co_await f == 1);
  };
  alone(body());
}

TEST_CASE("an exception stays in the frame") {
  const auto body = []() -> task<void> {
    const auto wrong = []() -> task<int> {
      throw std::runtime_error("wrong");
      co_return 0;
    };
    future<int> f = co_await fork(wrong());
    CHECK(f.done());
    CHECK(f.exception() != nullptr);
    CHECK_THROWS_WITH_AS(f.get(), "wrong", std::runtime_error);
  };
  alone(body());
}

TEST_CASE("what a callback on a held result throws goes to the unobserved handler") {
  static std::string seen;
  seen.clear();
  auto before = plait::set_unobserved_exception_handler([](std::exception_ptr e, std::string_view) {
    try {
      std::rethrow_exception(e);
    } catch (const std::runtime_error& x) {
      seen = x.what();
    }
  });
  const auto body = []() -> task<void> {
    future<int> f = co_await fork(giving(3));
    f.add_done_callback([](const future<int>&) { throw std::runtime_error("from the callback"); });
    CHECK(co_await f == 3);
  };
  alone(body());
  plait::set_unobserved_exception_handler(std::move(before));
  CHECK(seen == "from the callback");
}

TEST_CASE("a shared future of a held result serves many threads") {
  const auto body = []() -> task<plait::shared_future<long>> {
    future<long> f = co_await fork(giving(5L));
    co_return f.share();
  };
  const auto shared = alone(body());
  std::vector<std::thread> readers;
  std::vector<const long*> places(4);
  for (std::size_t i = 0; i < places.size(); ++i) {
    readers.emplace_back([copy = shared, &place = places[i]] { place = &copy.get(); });
  }
  for (auto& r : readers) r.join();
  for (const long* p : places) CHECK(p == &shared.get());
  CHECK(shared.get() == 5);
}

TEST_CASE("held results are joined like others") {
  const auto body = []() -> task<void> {
    future<int> a = co_await fork(giving(1));
    future<int> b = plait::spawn(giving(2));
    const std::size_t first = co_await plait::when_any(b, a);
    CHECK(first == 1);
    CHECK(a.valid());
    auto both = co_await plait::when_all(std::move(a), std::move(b));
    CHECK(std::get<0>(both) == 1);
    CHECK(std::get<1>(both) == 2);

    std::vector<future<int>> many;
    for (int i = 0; i < 5; ++i) many.push_back(co_await fork(giving(i)));
    auto completions = plait::as_completed(std::move(many));
    int sum = 0;
    while (auto c = co_await plait::next(completions)) sum += c->future.get();
    CHECK(sum == 10);

    future<int> c = co_await fork(giving(3));
    auto settled = co_await plait::when_all_settled(std::move(c), giving(4));
    CHECK(std::get<0>(settled).value() == 3);
    future<int> d = co_await fork(giving(5));
    const auto fast = co_await plait::when_all(plait::fail_fast, std::move(d), giving(6));
    CHECK(std::get<0>(fast) + std::get<1>(fast) == 11);

    int count = 0;
    plait::task_group group;
    const auto add = [&]() -> task<int> { co_return ++count; };
    for (int i = 0; i < 10; ++i) co_await group.fork(add());
    co_await group.join();
    CHECK(count == 10);
  };
  alone(body());
}

}  // namespace held_result_cases
