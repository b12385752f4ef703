// SPDX-License-Identifier: BSL-1.0

// Requests to stop in a run.

#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>

#include "../support/ranks_case.hpp"

namespace cancel_cases {

plait::rank_local<std::atomic<int>> started;

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

}  // namespace cancel_cases

RANKS_CASE("submitted tasks do not inherit a request to stop") {
  CHECK(rt.run([] { return cancel_cases::submits_and_stops(); }).value_or(false) == false);
}

RANKS_CASE("a submitted task that runs on its own rank sees a request to stop it") {
  CHECK(rt.run([] { return cancel_cases::cancelled_itself(); }).value_or(true));
}
