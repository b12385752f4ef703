// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../support/ranks_case.hpp"

// Where submitted tasks run, and that each runs once wherever it goes.
namespace placement_cases {

using plait_test::detach;
using plait_test::sum_over_ranks;
using namespace std::chrono_literals;

int where_rank() { return plait::rank(); }
int where_worker() { return plait::worker_id(); }
plait::task<int> where_rank_later() {
  co_await plait::yield();
  co_return plait::rank();
}

// ---- exactly once ----

/// Each task of a case has a number; a rank marks those that it runs.
struct marks {
  std::vector<std::atomic<std::uint8_t>> seen{std::vector<std::atomic<std::uint8_t>>(1 << 17)};
  std::atomic<long> twice{0};
  std::atomic<long> all{0};
};
plait::rank_local<marks> ran([] { return std::make_unique<marks>(); });

void mark(std::uint32_t number) {
  auto& m = *ran;
  m.all.fetch_add(1);
  if (m.seen[number].fetch_add(1) != 0) m.twice.fetch_add(1);
}

/// The numbers from `first` on, `count` of them: marks the first and gives the rest to others.
void mark_range(std::uint32_t first, std::uint32_t count, std::uint32_t seed) {
  mark(first);
  ++first;
  --count;
  while (count > 0) {
    seed = seed * 1664525u + 1013904223u;
    const std::uint32_t part = std::min(count, 1 + (seed >> 8) % std::max(1u, count / 2));
    const int ranks = plait::size();
    switch ((seed >> 4) % 8) {
      case 0:
        detach(plait::submit<mark_range>(plait::on_rank(static_cast<int>(seed >> 16) % ranks), first, part, seed));
        break;
      case 1:
        detach(plait::submit<mark_range>(plait::prefer_rank(static_cast<int>(seed >> 16) % ranks), first, part, seed));
        break;
      case 2:
        detach(plait::submit<mark_range>(plait::cyclic, first, part, seed));
        break;
      case 3:
        detach(plait::submit<mark_range>(plait::prefer_worker(static_cast<int>(seed >> 16) % plait::num_workers()),
                                         first, part, seed));
        break;
      case 4:
        detach(plait::submit<mark_range>(plait::on_worker(static_cast<int>(seed >> 16) % plait::num_workers()), first,
                                         part, seed));
        break;
      case 5:
        detach(plait::submit<mark_range>(plait::here, first, part, seed));
        break;
      default:
        detach(plait::submit<mark_range>(first, part, seed));
        break;
    }
    first += part;
    count -= part;
  }
}

/// Collective: checks that tasks 0 to count-1 ran once each, on whatever rank.
void check_once(plait::runtime& rt, std::uint32_t count) {
  auto& m = ran.get(rt);
  CHECK(sum_over_ranks(rt, m.twice.exchange(0)) == 0);
  CHECK(sum_over_ranks(rt, m.all.exchange(0)) == static_cast<long>(count));
  std::vector<std::byte> everyone(m.seen.size());
  for (int r = 0; r < rt.size(); ++r) {
    std::vector<std::byte> bytes(m.seen.size());
    if (r == rt.rank()) {
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(m.seen[i].exchange(0));
    }
    rt.node().transport().broadcast(bytes, r);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      everyone[i] = static_cast<std::byte>(static_cast<int>(everyone[i]) + static_cast<int>(bytes[i]));
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < everyone.size(); ++i)
    wrong += everyone[i] != static_cast<std::byte>(i < count ? 1 : 0) ? 1 : 0;
  CHECK(wrong == 0);
}

// ---- busy tasks ----

/// Keeps its worker busy, so that others have a reason to steal.
int busy(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return plait::rank();
}

plait::task<std::vector<int>> spread(plait::placement where, int tasks, int milliseconds) {
  std::vector<plait::future<int>> all;
  for (int i = 0; i < tasks; ++i) all.push_back(plait::submit<busy>(where, milliseconds));
  std::vector<int> ranks(static_cast<std::size_t>(plait::size()));
  for (auto& f : all) {
    const int r = co_await f;
    ++ranks[static_cast<std::size_t>(r)];
  }
  co_return ranks;
}

/// Whether other ranks take some of the tasks that start on `home`. Where other programs need the cores, a thief may be
/// late once.
plait::task<bool> others_take_some(plait::placement where, int home) {
  const int tasks = 12 * plait::size();
  for (int attempt = 0; attempt < 20; ++attempt) {
    const auto on_rank = co_await spread(where, tasks, 3);
    if (plait::size() == 1 || on_rank[static_cast<std::size_t>(home)] < tasks) co_return true;
  }
  co_return false;
}

RANKS_CASE("a task that is bound to a rank or a worker runs there") {
  rt.run([]() -> plait::task<void> {
    std::vector<std::pair<int, plait::future<int>>> all;
    for (int i = 0; i < 40; ++i) {
      for (int r = 0; r < plait::size(); ++r) {
        all.emplace_back(r, plait::submit<where_rank>(plait::on_rank(r)));
        all.emplace_back(r, plait::submit<where_rank_later>(plait::on_rank(r)));
      }
    }
    for (auto& [r, f] : all) CHECK(co_await f == r);
    all.clear();
    for (int i = 0; i < 20; ++i) {
      for (int w = 0; w < plait::num_workers(); ++w)
        all.emplace_back(w, plait::submit<where_worker>(plait::on_worker(w)));
    }
    for (auto& [w, f] : all) CHECK(co_await f == w);
  });
}

int wait_for_worker_of(int w) { return plait::submit<where_worker>(plait::on_worker(w)).get(); }
int look_at_worker_of(int w) {
  const auto f = plait::submit<where_worker>(plait::on_worker(w));
  return f.result();
}

RANKS_CASE("a task that is bound to a worker runs there also where another worker blocks until it has ended") {
  rt.run([]() -> plait::task<void> {
    int elsewhere = 0;
    for (int i = 0; i < 20; ++i) {
      for (int from = 0; from < plait::num_workers(); ++from) {
        for (int w = 0; w < plait::num_workers(); ++w) {
          auto got = plait::submit<wait_for_worker_of>(plait::on_worker(from), w);
          const int ran_on = co_await got;
          auto seen = plait::submit<look_at_worker_of>(plait::on_worker(from), w);
          const int seen_on = co_await seen;
          elsewhere += (ran_on != w ? 1 : 0) + (seen_on != w ? 1 : 0);
        }
      }
    }
    CHECK(elsewhere == 0);
  });
}

RANKS_CASE("a task that is to run here stays on the rank") {
  rt.run_all([]() -> plait::task<void> {
    const int me = plait::rank();
    std::vector<plait::future<int>> all;
    for (int i = 0; i < 100; ++i) all.push_back(plait::submit<where_rank>(plait::here));
    for (auto& f : all) CHECK(co_await f == me);
  }());
}

RANKS_CASE("cyclic tasks go round all workers when nobody steals") {
  rt.run([]() -> plait::task<void> {
    co_await plait::disable_stealing();
    const int rounds = 5;
    std::vector<plait::future<int>> all;
    for (int i = 0; i < rounds * plait::num_workers(); ++i) all.push_back(plait::submit<where_rank>(plait::cyclic));
    std::vector<int> count(static_cast<std::size_t>(plait::size()));
    for (auto& f : all) {
      const int r = co_await f;
      ++count[static_cast<std::size_t>(r)];
    }
    for (const int c : count) CHECK(c == rounds * plait::num_workers() / plait::size());
    co_await plait::enable_stealing();
  });
}

RANKS_CASE("without stealing tasks spread from the root and stay where they are from others") {
  rt.run([]() -> plait::task<void> {
    co_await plait::disable_stealing();
    std::vector<plait::future<int>> all;
    for (int i = 0; i < plait::num_workers(); ++i) all.push_back(plait::submit<where_rank>());
    std::vector<int> count(static_cast<std::size_t>(plait::size()));
    for (auto& f : all) {
      const int r = co_await f;
      ++count[static_cast<std::size_t>(r)];
    }
    for (const int c : count) CHECK(c == plait::num_workers() / plait::size());
    for (int r = 0; r < plait::size(); ++r) {
      const bool stayed = co_await plait::submit(plait::on_rank(r), []() -> plait::task<bool> {
        bool all_here = true;
        for (int i = 0; i < 10; ++i) {
          const int ran_on = co_await plait::submit<where_rank>();
          all_here = all_here && ran_on == plait::rank();
        }
        co_return all_here;
      });
      CHECK(stayed);
    }
    co_await plait::enable_stealing();
  });
}

RANKS_CASE("a rank or worker that does not exist is an error that says what there is") {
  rt.run([]() -> plait::task<void> {
    const int ranks = plait::size();
    const int workers = plait::num_workers();
    for (const int bad : {-1, ranks, ranks + 100}) {
      CHECK_THROWS_AS(detach(plait::submit<where_rank>(plait::on_rank(bad))), plait::error);
      CHECK_THROWS_WITH_AS(detach(plait::submit<where_rank>(plait::prefer_rank(bad))),
                           doctest::Contains(("rank " + std::to_string(bad)).c_str()), plait::error);
    }
    for (const int bad : {-1, workers, workers + 100}) {
      CHECK_THROWS_AS(detach(plait::submit<where_rank>(plait::on_worker(bad))), plait::error);
      CHECK_THROWS_WITH_AS(detach(plait::submit<where_rank>(plait::prefer_worker(bad))),
                           doctest::Contains(("there are " + std::to_string(workers)).c_str()), plait::error);
    }
    CHECK(co_await plait::submit<where_rank>(plait::on_rank(ranks - 1)) == ranks - 1);
  });
}

RANKS_CASE("idle ranks take tasks that prefer another rank, and leave those that are bound") {
  rt.run([]() -> plait::task<void> {
    const int ranks = plait::size();
    const auto target = static_cast<std::size_t>(ranks - 1);
    const int tasks = 12 * ranks;
    CHECK((co_await others_take_some(plait::prefer_rank(ranks - 1), ranks - 1)));
    CHECK((co_await others_take_some(plait::anywhere, 0)));
    const auto bound = co_await spread(plait::on_rank(ranks - 1), tasks, 1);
    CHECK(bound[target] == tasks);
  });
}

std::atomic<bool> first_rank_took_one{false};

int tell_if_first_rank() {
  std::this_thread::sleep_for(2ms);
  if (plait::rank() == 0) first_rank_took_one = true;
  return plait::rank();
}

plait::task<void> give_until_first_rank_takes_one(std::chrono::steady_clock::time_point limit) {
  for (bool taken = false; !taken && std::chrono::steady_clock::now() < limit;) {
    std::vector<plait::future<int>> all;
    for (int i = 0; i < 16; ++i) all.push_back(plait::submit<tell_if_first_rank>());
    for (auto& f : all) {
      const int r = co_await f;
      taken = taken || r == 0;
    }
  }
}

RANKS_CASE("a worker that was asleep when a run began asks other ranks for tasks, also if the root just computes") {
  if (rt.size() == 1 || rt.node().pool().size() == 1) return;
  for (int round = 0; round < 2; ++round) {
    if (rt.rank() == 0) first_rank_took_one = false;
    std::this_thread::sleep_for(20ms);  // all are asleep
    rt.run_all([]() -> plait::task<void> {
      const auto limit = std::chrono::steady_clock::now() + 5s;
      if (plait::rank() == plait::size() - 1) co_await give_until_first_rank_takes_one(limit);
      if (plait::rank() != 0) co_return;
      while (!first_rank_took_one && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(1ms);
      CHECK(first_rank_took_one);
    }());
  }
}

RANKS_CASE("stealing can be switched off and on in a run, and stays so in the next") {
  rt.run([]() -> plait::task<void> { co_await plait::disable_stealing(); });
  rt.run([]() -> plait::task<void> {
    const int last = plait::size() - 1;
    const auto kept = co_await spread(plait::prefer_rank(last), 20, 1);
    CHECK(kept[static_cast<std::size_t>(last)] == 20);
    co_await plait::enable_stealing();
    CHECK((co_await others_take_some(plait::prefer_rank(last), last)));
  });
}

RANKS_CASE("every task runs exactly once, wherever it goes") {
  const std::uint32_t count = 10'000;
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    rt.run([seed]() -> plait::task<void> {
      detach(plait::submit<mark_range>(0u, +count, seed));
      co_return;
    });
    check_once(rt, count);
  }
  rt.run_all([](std::uint32_t share) -> plait::task<void> {
    detach(plait::submit<mark_range>(static_cast<std::uint32_t>(plait::rank()) * share, share, 77u));
    co_return;
  }(2'000));
  check_once(rt, 2'000 * static_cast<std::uint32_t>(rt.size()));
}

RANKS_CASE("every task runs exactly once while stealing is switched on and off") {
  const std::uint32_t count = 5'000;
  rt.run([]() -> plait::task<void> {
    detach(plait::submit<mark_range>(0u, +count, 5u));
    for (int i = 0; i < 6; ++i) {
      co_await plait::disable_stealing();
      co_await plait::yield();
      co_await plait::enable_stealing();
    }
  });
  check_once(rt, count);
}

RANKS_CASE("a hundred thousand small tasks run exactly once") {
  const std::uint32_t count = 100'000;
  rt.run([]() -> plait::task<void> {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i % 3 == 0) {
        detach(plait::submit<mark>(plait::on_rank(static_cast<int>(i / 3) % plait::size()), i));
      } else {
        detach(plait::submit<mark>(i));
      }
      if (i % 1000 == 0) co_await plait::yield();
    }
  });
  check_once(rt, count);
}

RANKS_CASE("a bound task starts although its submitter goes on computing") {
  if (rt.size() == 1) return;
  rt.run([]() -> plait::task<void> {
    std::vector<plait::future<double>> started;
    const auto begin = plait::wtime();
    for (int i = 0; i < 4; ++i) started.push_back(plait::submit(plait::on_rank(1), [] { return plait::wtime(); }));
    std::this_thread::sleep_for(400ms);  // no poll meanwhile
    // One host: its ranks share the clock.
    for (auto& s : started) CHECK(co_await s - begin < 0.3);
  });
}

RANKS_CASE("a task that others may take is taken although its submitter goes on computing") {
  if (rt.size() == 1) return;
  rt.run([]() -> plait::task<void> {
    for (int round = 0; round < 3; ++round) {
      std::this_thread::sleep_for(20ms);  // the others have looked for work in vain and are asleep
      auto f = plait::submit([] { return plait::wtime(); });
      const auto begin = plait::wtime();
      std::this_thread::sleep_for(300ms);
      CHECK(co_await f - begin < 0.25);
    }
  });
}

}  // namespace placement_cases
