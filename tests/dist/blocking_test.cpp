// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include "../support/ranks_case.hpp"

// Blocking waits for tasks of other ranks, while what runs on top of them waits too. Tasks block only for what they, or
// their descendants, have started: then all of them end.
namespace blocking_cases {

using plait::future;
using plait::here;
using plait::on_rank;
using plait::on_worker;
using plait::submit;
using plait::task;

int last_rank() { return plait::size() - 1; }

// ---- what could never end ----

struct circle {
  future<int> below, gate, on_top;
  std::atomic<bool> there{false}, open{false};
};
circle* around = nullptr;  // of rank 0

task<int> waits_until_it_is_open() {
  while (!around->open) co_await plait::yield();
  co_return 1;
}
task<int> waits_for_what_lies_below() {
  while (!around->there) co_await plait::yield();
  bool refused = false;
  try {
    around->below.wait();
  } catch (const plait::error& e) {
    refused = std::string_view(e.what()).find("co_await") != std::string_view::npos;
  }
  around->open = true;
  co_return refused ? 1 : 0;
}
int waits_below() {
  around->there = true;
  return around->gate.get();
}
int starts_the_circle() {
  circle all;
  around = &all;
  const auto mine = on_worker(plait::worker_id());
  all.gate = submit<waits_until_it_is_open>(mine);
  all.on_top = submit<waits_for_what_lies_below>(mine);
  all.below = submit<waits_below>(mine);
  while (!all.below.wait_for(std::chrono::milliseconds(1))) {
  }
  return all.on_top.get() + all.below.get();
}

RANKS_CASE("a wait for a submitted task that lies below on the same stack is an error, not a hang") {
  const plait_test::waiting_for named("a task that waits for one which waits below it");
  rt.run([]() -> task<void> {
    auto answer = submit<starts_the_circle>(here);
    CHECK(co_await answer == 2);
  });
}

// ---- the rest of a task waits for what it would run on top of ----

int slow() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the other rank has nothing else to do meanwhile
  return 1;
}
int waits_for_another_rank() { return submit<slow>(on_rank(0)).get() + 1; }
task<int> waits_for_its_child() {
  auto child = submit<waits_for_another_rank>(here);
  co_await plait::yield();  // the child runs now, and waits; what follows is to wait for it
  co_return child.get() + 1;
}

RANKS_CASE("an idle rank does not go on, on top of a task that waits for another rank, with one that waits for it") {
  const plait_test::waiting_for named("a task on the last rank whose child waits for rank 0");
  rt.run([]() -> task<void> { CHECK(co_await submit<waits_for_its_child>(on_rank(last_rank())) == 3); });
}

task<int> calls_slowly() { co_return co_await plait::blocking(slow); }
int waits_for_a_call() { return submit<calls_slowly>(here).get() + 1; }
task<int> waits_for_a_child_that_waits_for_a_call() {
  auto child = submit<waits_for_a_call>(here);
  co_await plait::yield();
  co_return child.get() + 1;
}

RANKS_CASE("nor does it where the wait is for a blocking call") {
  const plait_test::waiting_for named("a task on each rank whose child waits for a blocking call");
  rt.run([]() -> task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      auto there = submit<waits_for_a_child_that_waits_for_a_call>(on_rank(r));
      CHECK(co_await there == 3);
    }
  });
}

#if PLAIT_WITH_MPI
int waits_in_mpi() {
  struct helper {
    static task<int> barrier() {
      std::this_thread::sleep_for(std::chrono::milliseconds(plait::rank() == 0 ? 20 : 0));
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(plait::mpi::comm(), &request);
      co_await plait::mpi::wait(request);
      co_return 1;
    }
  };
  return plait::spawn(helper::barrier()).get() + 1;
}
task<int> waits_for_a_child_in_mpi() {
  auto child = plait::spawn(waits_in_mpi);
  co_await plait::yield();
  co_return child.get() + 1;
}

RANKS_CASE("nor does it where the wait is for a native request") {
  if (!plait_test::under_mpi()) return;
  const plait_test::waiting_for named("tasks of an spmd body that wait for MPI_Ibarrier");
  rt.run([]() -> task<void> {
    for (const int found : co_await plait::spmd<waits_for_a_child_in_mpi>()) CHECK(found == 3);
  });
}
#endif

// ---- times of tasks on several ranks ----

/// What the ranks of one process have in common. A rank's two tasks wait for two patient ones of the other rank.
struct shared {
  plait::async_latch begun[2]{plait::async_latch(2), plait::async_latch(2)};  ///< the patient ones of each rank
  std::atomic<int> blocked{0};
  static inline shared* now = nullptr;
};

void nothing() {}
/// Begins early, and goes on when all who wait have blocked, on top of one of them.
task<int> patient() {
  shared::now->begun[plait::rank()].count_down();
  while (shared::now->blocked < 4) co_await plait::yield();
  co_return 1;
}
task<int> moves_and_blocks(int other_worker) {
  auto f = submit<patient>(on_worker(other_worker));
  co_await shared::now->begun[plait::rank()].wait();  // goes on where those that came here have begun
  ++shared::now->blocked;
  co_return f.get();
}
int blocks(int other_worker) {
  auto f = submit<patient>(on_worker(other_worker));
  ++shared::now->blocked;
  return f.get();
}

TEST_CASE("tasks of two ranks that wait for each other's rank end, though the workers' clocks differ") {
  // Worker 0 of each rank has a clock that is far ahead of that of worker 1. Two tasks with its time block, one on each
  // worker; those that they wait for began on the other rank's worker 1, and must be allowed to go on there.
  constexpr int runs = 20;
  plait_test::on_loopback(2, {.workers = 2}, [](plait::runtime& rt) {
    for (int run = 0; run < runs; ++run) {
      const plait_test::waiting_for named("run " + std::to_string(run) + " of tasks that wait for the other rank");
      shared both;
      if (rt.rank() == 0) shared::now = &both;
      rt.run([]() -> task<void> {
        std::vector<future<void>> ahead;
        for (int i = 0; i < 200; ++i) ahead.push_back(submit<nothing>(on_worker(i % 2 * 2)));
        for (auto& f : ahead) co_await f;
        std::vector<future<int>> waiting;
        for (const int first : {0, 2}) waiting.push_back(submit<moves_and_blocks>(on_worker(first), 3 - first));
        for (const int first : {0, 2}) waiting.push_back(submit<blocks>(on_worker(first), 3 - first));
        int sum = 0;
        for (auto& f : waiting) sum += co_await f;
        CHECK(sum == 4);
      });
    }
  });
}

// ---- spmd bodies ----

task<int> suspending_body() {
  auto f = submit<slow>(on_rank((plait::rank() + 1) % plait::size()));
  co_await plait::yield();
  co_return co_await f;
}
int waits_for_bodies() {
  int parts = 0;
  for (int call = 0; call < 2; ++call) {
    for (const int part : plait::spmd<suspending_body>().get()) parts += part;
  }
  return parts;
}

RANKS_CASE("functions that block for spmd calls end, though bodies of others suspend below them") {
  const plait_test::waiting_for named("functions of all ranks that wait for spmd calls by get()");
  rt.run_all([]() -> task<void> {
    std::vector<future<int>> calls;
    for (int i = 0; i < 3; ++i) calls.push_back(submit<waits_for_bodies>(here));
    for (auto& c : calls) CHECK(co_await c == 2 * plait::size());
  }());
}

// ---- all together ----

/// Numbers of a task's own: it may run anywhere.
struct numbers {
  std::uint32_t state;
  std::uint32_t operator()(std::uint32_t below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  }
};

int blocking_node(int depth, std::uint32_t seed);
task<int> suspending_node(int depth, std::uint32_t seed);

future<int> start_somewhere(numbers& next, int depth) {
  const auto where = next(4) == 0   ? here
                     : next(3) == 0 ? plait::anywhere
                                    : on_rank(static_cast<int>(next(static_cast<std::uint32_t>(plait::size()))));
  const auto seed = next(1u << 20);
  if (next(2) == 0) return submit<blocking_node>(where, depth, seed);
  return submit<suspending_node>(where, depth, seed);
}

int blocking_node(int depth, std::uint32_t seed) {
  if (depth == 0) return 1;
  numbers next{seed};
  std::vector<future<int>> children(1 + next(3));
  for (auto& c : children) c = start_somewhere(next, depth - 1);
  int ended = 0;
  const bool backwards = next(2) == 0;
  for (std::size_t i = 0; i < children.size(); ++i)
    ended += children[backwards ? children.size() - 1 - i : i].get() > 0 ? 1 : 0;
  return ended == static_cast<int>(children.size()) ? 1 : 0;
}

task<int> suspending_node(int depth, std::uint32_t seed) {
  numbers next{seed};
  for (auto turns = next(3); turns > 0; --turns) co_await plait::yield();
  if (depth == 0) co_return 1;
  std::vector<future<int>> children(1 + next(3));
  for (auto& c : children) {
    c = start_somewhere(next, depth - 1);
    if (next(2) == 0) co_await plait::yield();
    if (next(8) == 0) co_await plait::sleep_for(std::chrono::microseconds(next(200)));
    if (next(8) == 0) {
      future<int> forked = co_await plait::fork(suspending_node(depth - 1, next(1u << 20)));
      if (forked.get() == 0) co_return 0;
    }
  }
  int ended = 0;
  for (auto& c : children) {
    int found = 0;
    if (next(2) == 0) {
      found = c.get();
    } else {
      found = co_await c;
    }
    ended += found > 0 ? 1 : 0;
  }
  co_return ended == static_cast<int>(children.size()) ? 1 : 0;
}

RANKS_CASE("trees of tasks that block, suspend, yield and sleep end, wherever their nodes run") {
  const plait_test::waiting_for named("random trees of tasks that block and suspend");
  for (std::uint32_t seed = 1; seed <= 15; ++seed) {
    const auto found = rt.run([seed] { return suspending_node(4, seed * 2654435761u); });
    CHECK(found.value_or(1) == 1);
  }
}

}  // namespace blocking_cases
