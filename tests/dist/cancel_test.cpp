// SPDX-License-Identifier: BSL-1.0

// Requests to stop in a run.

#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../support/ranks_case.hpp"

namespace cancel_cases {

plait::rank_local<std::atomic<int>> started;

/// Collective, between runs.
long all_started(const plait::runtime& rt) { return plait_test::sum_over_ranks(rt, started.get(rt).load()); }

/// Whether the task has been told to stop after that many turns.
plait::task<bool> is_told(int yields) {
  for (int i = 0; i < yields; ++i) co_await plait::yield();
  co_return plait::this_task::cancelled();
}

plait::task<bool> submits_and_stops() {
  std::atomic<bool> running{false};
  auto mine = plait::spawn([&running]() -> plait::task<bool> {
    running = true;
    while (!plait::this_task::cancelled()) co_await plait::yield();
    auto child = plait::submit<is_told>(plait::on_rank(plait::rank()), 10);  // by a task that was told
    co_return co_await child;
  });
  while (!running) co_await plait::yield();
  CHECK_FALSE(mine.cancel());
  co_return co_await mine;
}

/// A submitted task that runs on this rank sees a request that is made of itself.
plait::task<bool> cancelled_itself() {
  const int before = started->load();
  auto f = plait::submit(plait::on_rank(plait::rank()), []() -> plait::task<bool> {
    started->fetch_add(1);
    while (!plait::this_task::cancelled()) co_await plait::yield();
    co_return true;
  });
  while (started->load() == before) co_await plait::yield();
  CHECK_FALSE(f.cancel());
  co_return co_await f;
}

// ---- tasks that have gone to other ranks ----

plait::task<std::size_t> waits_to_be_told(std::string large) {
  while (!plait::this_task::cancelled()) co_await plait::yield();
  co_return large.size();
}

using plait::future;
using plait::on_rank;
using plait::submit;
using plait::task;

int last_rank() { return plait::size() - 1; }

template <class Condition>
task<void> until(const char* what, Condition condition) {
  const plait_test::waiting_for named(what);
  while (!condition()) co_await plait::sleep_for(std::chrono::microseconds(200));
}

void count_start() { started->fetch_add(1); }
/// Tells rank 0 that a task runs.
void announce() { plait_test::detach(submit<count_start>(on_rank(0))); }

/// A call that computes until it is told to stop: a worker that it occupies does nothing else.
int computes_until_told() {
  announce();
  while (!plait::this_task::cancelled()) std::this_thread::yield();
  return 1;
}
int watches_its_token() {
  const auto token = plait::this_task::stop_token();
  std::atomic<int> calls{0};
  const std::stop_callback callback(token, [&calls] { ++calls; });
  announce();
  while (!token.stop_requested()) std::this_thread::yield();
  while (calls == 0) std::this_thread::yield();
  return calls;
}
task<int> sleeps() {
  announce();
  co_await plait::sleep_for(std::chrono::hours(1));
  co_return 1;
}
task<int> sleeps_in_a_fork() {
  auto f = co_await plait::fork(sleeps());
  co_return co_await f;
}
task<int> goes_on_until_told() {
  announce();
  while (!plait::this_task::cancelled()) co_await plait::yield();
  co_return 1;
}
int runs() {
  started->fetch_add(1);
  return 1;
}

/// Starts F on the last rank, and cancels it there.
template <auto F>
task<int> cancelled_elsewhere() {
  const int before = started->load();
  auto f = submit<F>(on_rank(last_rank()));
  co_await until("the start of a task on the last rank", [&] { return started->load() != before; });
  CHECK_FALSE(f.cancel());
  const plait_test::waiting_for named("the end of a task that was cancelled on the last rank");
  co_return co_await f;
}
template <auto F>
task<bool> ends_by_cancellation_elsewhere() {
  try {
    co_await cancelled_elsewhere<F>();
  } catch (const plait::cancelled_error&) {
    co_return true;
  }
  co_return false;
}

/// While one worker of the last rank is occupied, tasks behind it are cancelled there.
task<void> cancels_what_is_queued() {
  const int before = started->load();
  const auto place = plait::on_worker(plait::num_workers() - 1);
  auto first = submit<computes_until_told>(place);
  co_await until("a call that occupies a worker", [&] { return started->load() != before; });
  std::vector<future<int>> behind;
  for (int i = 0; i < 300; ++i) behind.push_back(submit<runs>(place));
  const plait_test::waiting_for named("the end of tasks that were cancelled in a queue of another rank");
  for (auto& f : behind) CHECK_FALSE(f.cancel());
  for (auto& f : behind) {
    bool never_started = false;
    try {
      co_await f;
    } catch (const plait::cancelled_error&) {
      never_started = true;
    }
    CHECK(never_started);
  }
  CHECK_FALSE(first.cancel());
  CHECK(co_await first == 1);
}
/// Tasks that may have moved on between the other ranks, and home again, are all found.
task<void> cancels_what_was_stolen() {
  const int before = started->load();
  std::vector<future<int>> all;
  for (int i = 0; i < 40; ++i) all.push_back(submit<goes_on_until_told>(plait::prefer_rank(last_rank())));
  co_await until("the start of stealable tasks", [&] { return started->load() - before >= 4; });
  int told = 0;
  for (auto& f : all) f.cancel();
  const plait_test::waiting_for named("the end of cancelled tasks that may have been stolen");
  for (auto& f : all) {
    try {
      told += co_await f;
    } catch (const plait::cancelled_error&) {  // it was still in a queue
    }
  }
  CHECK(told >= 4);
}

task<int> fails_or_waits(int i) {
  if (i == 0) throw std::out_of_range("the first");
  while (!plait::this_task::cancelled()) co_await plait::yield();
  co_return i;
}
task<void> fails_fast() {
  std::vector<future<int>> all;
  for (int i = 4; i >= 0; --i) all.push_back(submit<fails_or_waits>(on_rank(i % plait::size()), i));
  const plait_test::waiting_for named("the end of tasks on all ranks, of which one has failed");
  CHECK_THROWS_AS(co_await plait::when_all(plait::fail_fast, std::move(all)), std::out_of_range);
}

/// The future is dropped after the request, and the request comes from a thread of the program's.
task<void> told_by_a_thread() {
  auto f = submit<goes_on_until_told>(on_rank(last_rank()));
  std::thread([&f] { f.cancel(); }).join();
  co_return;
}

task<int> counted(int turns) {
  started->fetch_add(1);
  for (int i = 0; i < turns; ++i) co_await plait::yield();
  co_return 1;
}
/// Submits many tasks and cancels some at once and some later. Gives how many of them have a result.
task<int> cancels_at_random(unsigned seed) {
  std::vector<future<int>> all;
  for (unsigned i = 0; i < 400; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all.push_back(submit<counted>(static_cast<int>(seed >> 28)));
    if (seed % 3 == 0) all[(seed >> 8) % all.size()].cancel();
    if (seed % 7 == 0) co_await plait::yield();
  }
  int results = 0;
  for (auto& f : all) {
    try {
      results += co_await f;
    } catch (const plait::cancelled_error&) {
    }
  }
  co_return results;
}

}  // namespace cancel_cases

RANKS_CASE("a task that computes on another rank is told to stop") {
  if (rt.size() == 1) return;
  CHECK(rt.run([] { return cancel_cases::cancelled_elsewhere<cancel_cases::computes_until_told>(); }).value_or(1) == 1);
}

RANKS_CASE("what a stop token of a task on another rank calls is called once") {
  if (rt.size() == 1) return;
  CHECK(rt.run([] { return cancel_cases::cancelled_elsewhere<cancel_cases::watches_its_token>(); }).value_or(1) == 1);
}

RANKS_CASE("a task that sleeps on another rank is woken by a request to stop, also in a task that it has forked") {
  using namespace cancel_cases;
  CHECK(rt.run([] { return ends_by_cancellation_elsewhere<sleeps>(); }).value_or(true));
  CHECK(rt.run([] { return ends_by_cancellation_elsewhere<sleeps_in_a_fork>(); }).value_or(true));
}

RANKS_CASE("tasks that are cancelled in a queue of another rank never start, and end before what occupies that rank") {
  using namespace cancel_cases;
  if (rt.size() == 1) return;
  const plait_test::unobserved_log log;
  const long before = all_started(rt);
  rt.run([] { return cancels_what_is_queued(); });
  CHECK(all_started(rt) == before + 1);  // the announcement
}

RANKS_CASE("a request to stop follows tasks that were stolen") {
  rt.run([] { return cancel_cases::cancels_what_was_stolen(); });
}

RANKS_CASE("a request to stop reaches tasks with arguments of any size") {
  rt.run([]() -> plait::task<void> {
    for (const std::size_t size : {std::size_t{10}, std::size_t{20000}, std::size_t{300000}}) {
      std::vector<plait::future<std::size_t>> futures;
      for (int i = 0; i < 100; ++i) {
        futures.push_back(plait::submit<cancel_cases::waits_to_be_told>(plait::on_rank(cancel_cases::last_rank()),
                                                                        std::string(size, 'x')));
        futures.back().cancel();
      }
      for (auto& f : futures) {
        try {
          const auto given = co_await f;
          CHECK(given == size);
        } catch (const plait::cancelled_error&) {  // it had not started
        }
      }
    }
  });
}

RANKS_CASE("when_all(fail_fast, ...) stops tasks on all ranks") {
  rt.run([] { return cancel_cases::fails_fast(); });
}

RANKS_CASE("a task on another rank is told by any thread, and reaches no handler when its future is dropped") {
  plait_test::unobserved_log log;
  rt.run([] { return cancel_cases::told_by_a_thread(); });
  rt.run([]() -> plait::task<void> {
    auto f = plait::submit<cancel_cases::sleeps>(plait::on_rank(cancel_cases::last_rank()));
    co_await plait::yield();
    f.cancel();
  });
  CHECK(log.take().empty());
}

RANKS_CASE("each task that may be cancelled starts once and has a result, or never starts") {
  using namespace cancel_cases;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const long before = all_started(rt);
    const long results = plait_test::sum_over_ranks(rt, rt.run([&] { return cancels_at_random(seed); }).value_or(0));
    CHECK(all_started(rt) - before == results);
  }
}

RANKS_CASE("submitted tasks do not inherit a request to stop") {
  CHECK(rt.run([] { return cancel_cases::submits_and_stops(); }).value_or(false) == false);
}

RANKS_CASE("a submitted task that runs on its own rank sees a request to stop it") {
  CHECK(rt.run([] { return cancel_cases::cancelled_itself(); }).value_or(true));
}
