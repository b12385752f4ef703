// SPDX-License-Identifier: BSL-1.0

// Tasks of a run in pools beside it.

#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "../support/ranks_case.hpp"

namespace resume_on_cases {

using plait_test::detach;
using plait_test::sum_over_ranks;

plait::rank_local<std::atomic<long>> calls;
int count(int n) {
  calls->fetch_add(1);
  return n;
}

bool in(const plait::pool& p) { return &plait::sched::worker::of_this_thread()->home() == &p; }

/// Submits to all places from a pool beside the run; its last task ends there.
plait::task<int> from_elsewhere(plait::pool& other, int tasks) {
  co_await plait::resume_on(other);
  CHECK_THROWS_AS(plait::worker_id(), plait::error);
  CHECK_THROWS_AS(plait::local_worker_id(), plait::error);
  int sum = 0;
  for (int i = 0; i < tasks; ++i) {
    const int rank = i % plait::size();
    auto a = plait::submit<count>(1);
    auto b = plait::submit<count>(plait::on_rank(rank), 1);
    auto c = plait::submit<count>(plait::prefer_worker(i % plait::num_workers()), 1);
    auto d = plait::submit<count>(plait::here, 1);
    detach(plait::submit<count>(plait::cyclic, 1));
    sum += co_await a;
    CHECK(in(other));
    sum += b.get();  // the other pool's worker helps its own pool meanwhile
    sum += co_await c;
    sum += d.get();
    CHECK(in(other));
  }
  co_await plait::wait_children();
  co_return sum;
}

plait::task<void> end_elsewhere(plait::pool& other) {
  co_await plait::resume_on(other);
  for (int i = 0; i < 20; ++i) co_await plait::yield();
  detach(plait::spawn([] {
    detach(plait::submit<count>(1));
    std::this_thread::yield();
  }));
}

plait::task<int> block(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await plait::blocking([] { return 1; });
  co_return sum;
}

}  // namespace resume_on_cases

RANKS_CASE("tasks that are submitted from another pool belong to the run") {
  using namespace resume_on_cases;
  plait::pool other({.workers = 1});
  const auto sum = rt.run([&other] { return from_elsewhere(other, 10); });
  CHECK(sum.value_or(40) == 40);
  CHECK(sum_over_ranks(rt, calls.get(rt).exchange(0)) == 50);
}

RANKS_CASE("a run ends when its last task has ended in another pool") {
  using namespace resume_on_cases;
  plait::pool other({.workers = 1});
  for (int i = 0; i < 20; ++i) {
    rt.run_all(end_elsewhere(other));
    CHECK(sum_over_ranks(rt, calls.get(rt).exchange(0)) == rt.size());
  }
}

RANKS_CASE("tasks on all ranks make blocking calls") {
  using namespace resume_on_cases;
  const auto sums = rt.run([]() -> plait::task<int> {
    std::vector<plait::future<int>> all;
    for (int r = 0; r < 4 * plait::size(); ++r)
      all.push_back(plait::submit<block>(plait::on_rank(r % plait::size()), 5));
    int total = 0;
    for (auto& f : all) total += co_await f;
    co_return total;
  });
  CHECK(sums.value_or(20 * rt.size()) == 20 * rt.size());
}
