// SPDX-License-Identifier: BSL-1.0

// Run in 1 MiB of stack and compiled in every mode: how much stack awaiting takes must not depend on whether the
// compiler turns a transfer between coroutines into a jump.

#include <plait/core.hpp>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

using plait::future;
using plait::pool;
using plait::task;

namespace {

#if PLAIT_TSAN
constexpr int many = 1'000'000;
#else
constexpr int many = 10'000'000;
#endif

task<int> one() { co_return 1; }

task<long> await_in_a_loop(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await one();
  co_return sum;
}

task<long> fork_in_a_loop(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    auto f = co_await plait::fork(one());
    sum += co_await f;
  }
  co_return sum;
}

task<long> yield_in_a_loop(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    co_await plait::yield();
    ++sum;
  }
  co_return sum;
}

/// Each spawned task is awaited while it is queued, so that its end resumes the awaiting one.
task<long> spawn_in_a_loop(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) {
    auto f = plait::spawn(one());
    sum += co_await f;
  }
  co_return sum;
}

task<int> down(int depth) {
  if (depth == 0) co_return 0;
  co_return co_await down(depth - 1) + 1;
}
task<int> down_by_forks(int depth) {
  if (depth == 0) co_return 0;
  auto f = co_await plait::fork(down_by_forks(depth - 1));
  co_return co_await f + 1;
}
task<int> down_and_throw(int depth) {
  if (depth == 0) throw std::runtime_error("bottom");
  co_return co_await down_and_throw(depth - 1) + 1;
}

int down_plain(int depth) { return depth == 0 ? 0 : plait::spawn(down_plain, depth - 1).get() + 1; }
/// Goes down until a wait finds too little stack. What is queued then is detached, and ends at once.
int down_until_error(int depth, std::atomic<bool>& over) {
  if (depth == 0 || over) return 0;
  auto f = plait::spawn(down_until_error, depth - 1, std::ref(over));
  try {
    return f.get() + 1;
  } catch (const plait::error&) {
    over = true;
    throw;
  }
}

/// Each level drops the future of a child that has not ended, and so runs it on top of itself.
task<> down_by_dropped_forks(int depth, std::atomic<int>& ended) {
  co_await plait::yield();
  if (depth > 0) {
    auto f = co_await plait::fork(down_by_dropped_forks(depth - 1, ended));
    static_cast<void>(std::exchange(f, {}));
  }
  ++ended;
}
/// The same where an exception drops it.
task<> throw_at_each_level(int depth, std::atomic<int>& ended) {
  co_await plait::yield();
  ++ended;
  if (depth == 0) throw std::runtime_error("bottom");
  try {
    auto f = co_await plait::fork(throw_at_each_level(depth - 1, ended));
    throw std::runtime_error("above");
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

TEST_CASE("the stack is as small as this test wants it") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
  if (limit.rlim_cur != 1024 * 1024) MESSAGE("run under ulimit -s 1024: the stack has ", limit.rlim_cur, " bytes");
}

TEST_CASE("ten million awaits in a loop") {
  pool p({.workers = 1});
  CHECK(p.run(await_in_a_loop(many)) == many);
}

TEST_CASE("ten million awaits in a loop beside a second worker") {
  pool p({.workers = 2});
  CHECK(p.run(await_in_a_loop(many / 10)) == many / 10);
}

TEST_CASE("forks, spawns and yields in a loop") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(fork_in_a_loop(many / 20)) == many / 20);
    CHECK(p.run(spawn_in_a_loop(many / 50)) == many / 50);
    CHECK(p.run(yield_in_a_loop(many / 50)) == many / 50);
  }
}

TEST_CASE("recursion of depth 100,000, by co_await and by forks") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(down(100000)) == 100000);
    CHECK(p.run(down_by_forks(100000)) == 100000);
    CHECK_THROWS_AS(p.run(down_and_throw(20000)), std::runtime_error);
  }
}

TEST_CASE("an await loop inside of a blocking wait, at some depth") {
  struct nested {
    static long wait(int depth) {
      if (depth == 0) return plait::spawn(await_in_a_loop(many / 100)).get();
      return plait::spawn(&wait, depth - 1).get();
    }
  };
  pool p({.workers = 1});
  CHECK(p.spawn(&nested::wait, 20).get() == many / 100);
}

TEST_CASE("blocking waits beyond the stack are an error, and a little less deep they work") {
  pool p({.workers = 1});
  CHECK(p.spawn(down_plain, 50).get() == 50);
  std::atomic<bool> over{false};
  CHECK_THROWS_AS(p.spawn(down_until_error, 1000000, std::ref(over)).get(), plait::error);
  CHECK(p.spawn(down_plain, 50).get() == 50);
}

TEST_CASE("futures of forks that are dropped one inside of the other wait beyond the stack") {
#if PLAIT_ASAN || PLAIT_TSAN
  constexpr int depth = 10'000;
#else
  constexpr int depth = 100'000;
#endif
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    std::atomic<int> ended{0};
    p.run(down_by_dropped_forks(depth, ended));
    CHECK(ended == depth + 1);
    ended = 0;
    plait::set_unobserved_exception_handler([](const std::exception_ptr&, std::string_view) {});
    p.run(throw_at_each_level(depth, ended));
    plait::set_unobserved_exception_handler(nullptr);
    CHECK(ended == depth + 1);
    CHECK(p.spawn(down_plain, 50).get() == 50);  // and the limit is where it was
  }
}
