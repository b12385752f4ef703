// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "expecting.hpp"

// Whole pools, whose workers and the thread that uses them are fibers: their tasks in random orders.

using interleaving::plain;
using interleaving::require;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace {

task<int> leaf(int n) { co_return n; }
task<int> yielding(int n) {
  co_await plait::yield();
  co_return n;
}
task<int> failing() {
  co_await plait::yield();
  throw std::runtime_error("as it should");
}

task<int> nothing() { co_return 10; }

task<int> forks() {
  plain<int> local = 0;
  auto a = co_await plait::fork([](plain<int>& where) -> task<int> {
    where.write(3);
    co_return 1;
  }(local));
  auto b = co_await plait::fork(yielding(2));
  const int c = co_await leaf(4);
  const int x = co_await a;
  co_return local.read() + x + c + co_await b;
}

task<int> spawns() {
  auto a = spawn(leaf(1)), b = spawn(yielding(2)), dropped = spawn(leaf(100));
  static_cast<void>(std::exchange(dropped, {}));
  const int x = co_await b;
  co_return x + co_await a + 7;
}

task<int> forks_and_throws() {
  plain<int> local = 5;
  int caught = 0;
  try {
    plain<int> inner = 0;
    auto a = co_await plait::fork([](plain<int>& where) -> task<int> {
      co_await plait::yield();
      where.write(3);
      co_return 1;
    }(inner));
    throw std::runtime_error("with a child");
  } catch (const std::runtime_error&) {
    caught = 2;
  }
  try {
    co_await spawn(failing());
  } catch (const std::runtime_error&) {
    caught += 3;
  }
  co_return local.read() + caught;
}

task<int> cancels() {
  int calls = 0;
  auto a = spawn(yielding(1));
  a.add_done_callback([&calls](const future<int>&) { ++calls; });
  const bool never = a.cancel();
  try {
    co_await a;
    require(!never, "a cancelled task has run");
  } catch (const plait::cancelled_error&) {
    require(never, "a task that has run is cancelled");
  }
  co_return 9 + calls;
}

task<int> observes() {
  auto a = spawn(yielding(3)), b = spawn(leaf(4));
  int calls = 0;
  a.add_done_callback([&calls](const future<int>&) { ++calls; });
  static_cast<void>(a.wait_for(std::chrono::seconds(-1)));
  const std::size_t first = co_await plait::when_any(a, b);
  require(first < 2, "when_any gives a wrong index");
  const int x = co_await a;
  co_return x + co_await b + 2 + calls;
}

task<int> blocks() {
  auto a = spawn([] { return spawn(leaf(4)).get(); });
  const int x = a.get();
  co_return x + spawn(yielding(6)).get();
}

task<int> synchronises() {
  plait::async_mutex mutex;
  plait::async_latch latch(2);
  plain<int> count = 0;
  struct helper {
    static task<void> add(plait::async_mutex& m, plait::async_latch& l, plain<int>& n) {
      {
        const auto lock = co_await m.scoped_lock();
        n.write(n.read() + 5);
      }
      l.count_down();
    }
  };
  auto a = spawn(helper::add(mutex, latch, count));
  auto b = co_await plait::fork(helper::add(mutex, latch, count));
  co_await latch.wait();
  co_await a;
  co_await b;
  co_return count.read();
}

task<int> asks_to_stop() {
  plait::async_latch never(1);
  struct helper {
    static task<void> wait(plait::async_latch& latch) { co_await latch.wait(); }
  };
  int stopped = 0;
  {
    auto a = co_await plait::fork(helper::wait(never));
    auto b = spawn(helper::wait(never));
    static_cast<void>(b.cancel());
    try {
      co_await b;
    } catch (const plait::cancelled_error&) {
      stopped += 10;
    }
  }
  co_return stopped;
}

task<int> groups() {
  plait::task_group g;
  plain<int> left = 0, right = 0;
  co_await g.fork([](plain<int>& n) -> task<void> {
    co_await plait::yield();
    n.write(4);
  }(left));
  g.spawn([](plain<int>& n) -> task<void> {
    n.write(6);
    co_return;
  }(right));
  co_await g.join();
  co_return left.read() + right.read();
}

task<int> completes() {
  std::vector<future<int>> futures;
  futures.push_back(spawn(yielding(1)));
  futures.push_back(spawn(leaf(2)));
  futures.push_back(co_await plait::fork(yielding(7)));
  auto range = plait::as_completed(std::move(futures));
  int sum = 0;
  while (auto c = co_await plait::next(range)) sum += co_await c->future;
  co_return sum;
}

task<int> passes() {
  plait::channel<int> numbers(1);
  struct helper {
    static task<void> send(plait::channel<int>& out) {
      for (int i = 1; i < 5; ++i) require(co_await out.send(i), "a channel is closed early");
      out.close();
    }
  };
  auto sender = spawn(helper::send(numbers));
  int sum = 0;
  for (auto n = co_await numbers.receive(); n; n = co_await numbers.receive()) sum += *n;
  co_await sender;
  co_return sum;
}

task<int> fails_fast() {
  plait::async_latch never(1);
  struct helper {
    static task<int> wait(plait::async_latch& latch) {
      co_await latch.wait();
      co_return 1;
    }
  };
  try {
    static_cast<void>(co_await plait::when_all(plait::fail_fast, helper::wait(never), failing()));
  } catch (const std::runtime_error& e) {
    co_return 10;
  }
  co_return 0;
}

/// A pool runs the task, and ends.
struct program {
  static constexpr std::size_t threads = 1;
  task<int> (*body)();
  int workers;
  program(task<int> (*f)(), int count) : body(f), workers(count) {}
  void run(std::size_t) const {
    pool p({.workers = workers});
    p.set_crowded(true);  // no look at the clock
    for (auto turns = interleaving::checker::instance().choose(10); turns > 0; --turns) plait::base::give_way();
    require(p.run(body()) == 10, "a wrong result");
  }
  void end() const {}
};

/// Two threads use a pool, and one of them ends it with work in it.
struct two_users {
  static constexpr std::size_t threads = 2;
  std::unique_ptr<pool> shared;
  bool second_ended = false;
  int ran = 0;
  interleaving::plain<int> handed;
  void run(std::size_t thread) {
    if (thread == 0) {
      shared = std::make_unique<pool>(plait::pool_options{.workers = 1});
      shared->set_crowded(true);
      plait::base::give_way();
      require(shared->run(leaf(3)) == 3, "a wrong result");
      while (!second_ended) plait::base::give_way();
      static_cast<void>(shared->spawn([this] { ++ran; }));
      shared.reset();
      require(ran == 1, "the end of a pool leaves work");
    } else {
      while (shared == nullptr) plait::base::give_way();
      handed.write(1);
      auto f = shared->spawn([this] { handed.write(handed.read() + 1); });
      f.get();
      require(handed.read() == 2, "a wrong result");
      second_ended = true;
    }
  }
  void end() const {}
};

/// One thread sets a promise, and ends it, while a task awaits it and another thread drops or reads a copy.
struct promise_and_task {
  static constexpr std::size_t threads = 2;
  std::optional<plait::promise<int>> promised{std::in_place};
  future<int> awaited = promised->get_future();
  plain<int> before = 0;
  void run(std::size_t thread) {
    if (thread == 0) {
      pool p({.workers = 1});
      p.set_crowded(true);
      auto wait = [](future<int> f, plain<int>& written) -> task<int> {
        const int x = co_await f;
        co_return x + written.read();
      };
      require(p.run(wait(std::move(awaited), before)) == 10, "a wrong result");
    } else {
      before.write(3);
      promised->set_value(7);
      promised.reset();
    }
  }
  void end() const {}
};

/// A pool that ends while a task waits at a latch which another thread counts down at the same time.
struct end_and_latch {
  static constexpr std::size_t threads = 2;
  plait::async_latch latch{1};
  int through = 0, cancelled = 0;
  bool over = false;
  void run(std::size_t thread) {
    if (thread == 0) {
      {
        pool p({.workers = 1});
        p.set_crowded(true);
        auto wait = [](end_and_latch& all) -> task<void> {
          try {
            co_await all.latch.wait();
            ++all.through;
          } catch (const plait::cancelled_error&) {
            ++all.cancelled;
          }
        };
        static_cast<void>(p.spawn(wait(*this)));
      }
      require(through + cancelled == 1, "a task that waits does not go on once");
    } else {
      latch.count_down();
    }
  }
  void end() const {}
};

constexpr interleaving::limits at_random = {.preemptions = 60, .stale = 6, .executions = 1500, .seed = 3};
interleaving::result search(task<int> (*body)(), interleaving::limits how = at_random, int workers = 2) {
  return interleaving::checker::instance().search<program>(how, body, workers);
}

}  // namespace

TEST_CASE("a pool that is started and ended, with forks") { expect_none(search(forks)); }
TEST_CASE("a pool with spawned and dropped tasks") { expect_none(search(spawns)); }
TEST_CASE("a pool with exceptions, and a parent that throws while its child uses its locals") {
  expect_none(search(forks_and_throws));
}
TEST_CASE("a pool with a task that is cancelled while it is queued") { expect_none(search(cancels)); }
TEST_CASE("a pool with a callback, a timed wait and when_any on one future") { expect_none(search(observes)); }
TEST_CASE("a pool with blocking waits") { expect_none(search(blocks)); }
TEST_CASE("a pool with a mutex and a latch") { expect_none(search(synchronises)); }
TEST_CASE("a pool with requests to stop") { expect_none(search(asks_to_stop)); }
TEST_CASE("a pool with a group") { expect_none(search(groups)); }
TEST_CASE("a pool with futures that are taken as they complete") { expect_none(search(completes)); }
TEST_CASE("a pool with a channel") { expect_none(search(passes)); }
TEST_CASE("a pool with a failure that stops a task which waits") { expect_none(search(fails_fast)); }
TEST_CASE("a promise that is set and ended beside the task that awaits it") {
  expect_none(interleaving::checker::instance().search<promise_and_task>(at_random));
}
TEST_CASE("a pool that ends beside the event that a task of it waits for") {
  expect_none(interleaving::checker::instance().search<end_and_latch>(at_random));
}
TEST_CASE("a pool that two threads use, and one ends") {
  expect_none(interleaving::checker::instance().search<two_users>(at_random));
}

TEST_CASE("faults in a pool are found") {
  using interleaving::mutation;
  using interleaving::operation;
  const auto found = [](task<int> (*body)(), mutation fault, int workers = 2) {
    auto how = at_random;
    how.executions = 20000;
    how.fault = fault;
    return search(body, how, workers);
  };
  SUBCASE("the end of a fork that tells its parent in two steps") {
    expect_fault(found(forks, {"end_fork", operation::exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("a worker that sleeps without a barrier before its last look") {
    expect_fault(found(nothing, {"see_pushes", operation::barrier, mutation::kind::leave_out}, 1));
  }
  SUBCASE("children that are counted in two steps") {
    expect_fault(found(spawns, {"child_ended", operation::add, mutation::kind::no_exchange}));
  }
}
