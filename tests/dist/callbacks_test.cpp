// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../support/ranks_case.hpp"

// Callbacks on submitted tasks, waiting for children, and objects that the tasks of a rank share.
namespace callbacks_cases {

using plait_test::detach;
using plait_test::sum_over_ranks;

int square(int n) { return n * n; }
int slow_square(int n) {
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return n * n;
}
void fail() { throw std::out_of_range("fail"); }

plait::rank_local<std::atomic<long>> ended;
void end_late(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  ended->fetch_add(1);
}
long ended_on_all_ranks(plait::runtime& rt) { return sum_over_ranks(rt, ended.get(rt).exchange(0)); }

plait::task<long> parent_of_many(int children) {
  for (int i = 0; i < children; ++i) detach(plait::submit<end_late>(plait::cyclic, 1));
  co_await plait::wait_children();
  co_return children;
}

void blocking_parent(int children) {
  for (int i = 0; i < children; ++i) detach(plait::submit<end_late>(plait::cyclic, 1));
  plait::wait_children_blocking();
}

plait::task<void> helper(int children) {
  for (int i = 0; i < children; ++i) detach(plait::submit<end_late>(plait::cyclic, 1));
  co_return;
}

plait::task<void> grandparent(int children) {
  for (int i = 0; i < children; ++i) detach(plait::submit<parent_of_many>(plait::cyclic, children));
  co_await plait::wait_children();
}

struct shared_state {
  explicit shared_state(int n) : number(n) {}
  shared_state(const shared_state&) = delete;
  int number;
  std::atomic<int> uses{0};
};
std::atomic<int> made{0};
plait::rank_local<shared_state> shared([] {
  ++made;
  return std::make_unique<shared_state>(plait::rank() * 100);
});
plait::rank_local<std::string> nested([] { return "uses " + std::to_string(shared->number); });

RANKS_CASE("a callback is called once with a future that is done, on the rank that submitted") {
  rt.run([]() -> plait::task<void> {
    std::atomic<int> sum{0};
    std::atomic<int> count{0};
    std::atomic<int> wrong{0};
    for (int i = 0; i < 10; ++i) {
      auto f = plait::submit<square>(plait::on_rank(i % plait::size()), i);
      f.add_done_callback([&](const plait::future<int>& done) {
        if (!done.done() || done.exception() != nullptr || plait::rank() != 0) ++wrong;
        sum += done.result();
        ++count;
      });
    }
    co_await plait::wait_children();
    CHECK(count == 10);
    CHECK(sum == 285);
    CHECK(wrong == 0);
  });
}

RANKS_CASE("run returns after callbacks of dropped futures, and of what they submit") {
  std::atomic<int> count{0};
  rt.run([&count]() -> plait::task<void> {
    for (int i = 0; i < 8; ++i) {
      plait::submit<slow_square>(plait::cyclic, i).add_done_callback([&count](const plait::future<int>& done) {
        ++count;
        plait::submit<slow_square>(plait::cyclic, done.result()).add_done_callback([&count](const plait::future<int>&) {
          ++count;
          detach(plait::submit<end_late>(plait::cyclic, 2));
        });
      });
    }
    co_return;
  });
  CHECK(count == (rt.rank() == 0 ? 16 : 0));
  CHECK(ended_on_all_ranks(rt) == 8);
}

RANKS_CASE("a callback on a task of the same rank submits work that run waits for") {
  std::atomic<int> count{0};
  rt.run_all([](std::atomic<int>& c) -> plait::task<void> {
    plait::submit<slow_square>(plait::here, 3).add_done_callback([&c](const plait::future<int>&) {
      ++c;
      detach(plait::submit<end_late>(plait::here, 5));
      detach(plait::submit<end_late>(plait::cyclic, 5));
    });
    auto coroutine = plait::submit(plait::here, []() -> plait::task<int> {
      co_await plait::yield();
      co_return 1;
    });
    coroutine.add_done_callback([&c](const plait::future<int>&) {
      ++c;
      detach(plait::submit<end_late>(plait::here, 5));
    });
    auto spawned = plait::spawn([]() -> plait::task<int> {
      co_await plait::yield();
      co_return 1;
    }());
    spawned.add_done_callback([&c](const plait::future<int>&) {
      ++c;
      detach(plait::submit<end_late>(plait::here, 5));
    });
    co_return;
  }(count));
  CHECK(count == 3);
  CHECK(ended_on_all_ranks(rt) == 4 * rt.size());
}

RANKS_CASE("a callback that comes late is called at once, and each exactly once") {
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      int calls = 0;
      auto f = plait::submit<square>(plait::on_rank(r), 3);
      f.wait();
      f.add_done_callback([&](const plait::future<int>& done) { calls += done.result(); });
      CHECK(calls == 9);
      CHECK(co_await f == 9);
      auto failing = plait::submit<fail>(plait::on_rank(r));
      std::atomic<int> failures{0};
      failing.add_done_callback(
          [&](const plait::future<void>& done) { failures += done.exception() != nullptr ? 1 : 0; });
      CHECK_THROWS_AS(co_await failing, std::out_of_range);
      CHECK(failures == 1);
    }
  });
}

RANKS_CASE("wait_children waits for the direct children wherever they run") {
  rt.run([]() -> plait::task<void> {
    CHECK(co_await parent_of_many(10) == 10);
    CHECK(co_await plait::submit<parent_of_many>(plait::on_rank(plait::size() - 1), 10) == 10);
    co_await plait::submit<blocking_parent>(plait::on_rank(plait::size() - 1), 10);
    co_await plait::submit<grandparent>(plait::cyclic, 4);
    co_await helper(5);
    co_await plait::wait_children();
    co_await plait::wait_children();  // there are none
  });
  CHECK(ended_on_all_ranks(rt) == 10 + 10 + 10 + 16 + 5);
}

RANKS_CASE("wait_children has waited for what helpers that were awaited inline have submitted") {
  rt.run([]() -> plait::task<void> {
    std::atomic<int> count{0};
    const auto submit_some = [](std::atomic<int>& c) -> plait::task<void> {
      for (int i = 0; i < 6; ++i) {
        plait::submit<slow_square>(plait::cyclic, i).add_done_callback([&c](const plait::future<int>&) { ++c; });
      }
      co_return;
    };
    co_await submit_some(count);
    co_await plait::wait_children();
    CHECK(count == 6);
  });
}

RANKS_CASE("wait_children does not throw what its children threw") {
  const bool installs = plait_test::under_mpi() || rt.rank() == 0;
  std::unique_ptr<plait_test::unobserved_log> log;
  if (installs) log = std::make_unique<plait_test::unobserved_log>();
  rt.node().transport().barrier();
  rt.run([]() -> plait::task<void> {
    detach(plait::submit<fail>(plait::cyclic));
    auto kept = plait::submit<fail>(plait::cyclic);
    co_await plait::wait_children();
    CHECK(kept.done());
    CHECK_THROWS_AS(kept.get(), std::out_of_range);
  });
  if (rt.rank() == 0) CHECK(log->take().size() == 1);
  rt.node().transport().barrier();
}

RANKS_CASE("spawned and forked tasks belong to the run and may submit") {
  rt.run([]() -> plait::task<void> {
    auto forked = co_await plait::fork(
        []() -> plait::task<int> { co_return co_await plait::submit<square>(plait::cyclic, 5); }());
    auto spawned =
        plait::spawn([]() -> plait::task<int> { co_return co_await plait::submit<square>(plait::cyclic, 6); }());
    CHECK(co_await forked + co_await spawned == 61);
    detach(plait::spawn([]() -> plait::task<void> {
      co_await plait::yield();
      detach(plait::submit<end_late>(plait::cyclic, 3));
    }()));
  });
  CHECK(ended_on_all_ranks(rt) == 1);
}

RANKS_CASE("when_all and as_completed take submitted tasks") {
  rt.run([]() -> plait::task<void> {
    auto [a, b] =
        co_await plait::when_all(plait::submit<square>(plait::cyclic, 2), plait::submit<square>(plait::cyclic, 3));
    CHECK(a + b == 13);
    std::vector<plait::future<int>> many;
    for (int i = 0; i < 20; ++i) many.push_back(plait::submit<square>(plait::cyclic, i));
    const auto all = co_await plait::when_all(std::move(many));
    for (int i = 0; i < 20; ++i) CHECK(all[static_cast<std::size_t>(i)] == i * i);
  });
}

RANKS_CASE("a rank-local object is made once on each rank that asks, and shared by its tasks") {
  const auto before = made.load();
  rt.node().transport().barrier();
  rt.run([]() -> plait::task<void> {
    std::vector<plait::future<int>> numbers;
    for (int i = 0; i < 10; ++i) {
      for (int r = 0; r < plait::size(); ++r) {
        numbers.push_back(plait::submit(plait::on_rank(r), [] {
          shared->uses.fetch_add(1);
          return (*shared).number;
        }));
      }
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
      CHECK(co_await numbers[i] == static_cast<int>(i) % plait::size() * 100);
    CHECK(co_await plait::submit(plait::on_rank(plait::size() - 1), [] { return *nested; }) ==
          "uses " + std::to_string((plait::size() - 1) * 100));
  });
  CHECK(shared.get(rt).number == rt.rank() * 100);
  CHECK(shared.get(rt).uses == 10);
  shared.get(rt).uses = 0;
  if (!plait_test::under_mpi()) CHECK(made - before == rt.size());
}

/// A plain function: g++ 12 does not align the locals of coroutines as asked.
void make_two_at_one_address() {
  alignas(plait::rank_local<std::string>) std::byte space[sizeof(plait::rank_local<std::string>)];
  auto* number = new (space) plait::rank_local<int>([] { return 4; });
  CHECK(**number == 4);
  number->~rank_local();
  auto* text = new (space) plait::rank_local<std::string>([] { return std::string(100, 'x'); });
  CHECK((**text).size() == 100);
  text->~rank_local();
}

RANKS_CASE("rank-local objects of different types that lie at one address are different ones") {
  rt.run([]() -> plait::task<void> {
    for (int i = 0; i < 3; ++i) make_two_at_one_address();
    co_return;
  });
}

TEST_CASE("a rank-local object whose factory throws is asked for again") {
  plait_test::on_loopback(1, {.workers = 1}, [](plait::runtime& rt) {
    int calls = 0;
    const plait::rank_local<int> fragile([&calls] {
      if (++calls == 1) throw std::runtime_error("not yet");
      return 3;
    });
    CHECK_THROWS_AS(fragile.get(rt), std::runtime_error);
    CHECK(fragile.get(rt) == 3);
    CHECK(calls == 2);
  });
}

int plus_one(int n) { return n + 1; }

RANKS_CASE("a callback may wait for another task, also where its worker was about to sleep") {
  rt.run([]() -> plait::task<void> {
    long sum = 0;
    for (int i = 0; i < 300; ++i) {
      auto a = plait::submit<plus_one>(plait::on_rank(plait::size() - 1), 1);
      a.add_done_callback([&sum](const plait::future<int>& done) {
        sum += plait::submit<plus_one>(plait::on_rank(plait::size() - 1), done.result()).get();
      });
      co_await a;
    }
    CHECK(sum == 900);
  }());
}

plait::rank_local<int> small;
int use_small() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return *small;
}
int make_large() {
  auto a = plait::submit<use_small>(plait::here);
  auto b = plait::submit<use_small>(plait::here);
  return 1 + a.get() + b.get();
}
plait::rank_local<int> large(make_large);

extern plait::rank_local<int> needs_itself;
int use_itself() { return *needs_itself; }
plait::rank_local<int> needs_itself([] { return plait::submit<use_itself>(plait::here).get(); });

RANKS_CASE("the factory of a rank_local may wait for tasks, which may use others") {
  rt.run([]() -> plait::task<void> {
    CHECK(*large == 1);
    if (plait::num_workers() == 1) CHECK_THROWS_AS(static_cast<void>(*needs_itself), plait::error);
    co_return;
  }());
}

}  // namespace callbacks_cases
