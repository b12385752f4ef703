// SPDX-License-Identifier: BSL-1.0
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using plait::sched::deque;
using plait::sched::job;
using plait::sched::jobs;

namespace {
struct counted : job {
  std::atomic<int> taken{0};
};
}  // namespace

TEST_CASE("every job is taken exactly once while its owner pushes and pops and several threads steal") {
  constexpr std::size_t n = 60000;
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    const int thieves = round % 2 == 0 ? 3 : 7;
    auto all = std::make_unique<counted[]>(n);
    deque d(2);  // grows while thieves read it
    std::atomic<std::size_t> taken{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < thieves; ++t) {
      threads.emplace_back([&, t] {
        while (!over) {
          auto* j = d.steal(t == 0 ? jobs::fresh : jobs::all);
          if (j == nullptr) {
            std::this_thread::yield();
            continue;
          }
          static_cast<counted*>(j)->taken += 1;
          ++taken;
        }
      });
    }
    unsigned seed = 12345u + static_cast<unsigned>(round);
    for (std::size_t next = 0; next < n;) {
      seed = seed * 1664525u + 1013904223u;
      // Bursts of pushes and pops, often down to the last job, where owner and thieves compete for one.
      for (unsigned k = 0; k < (seed >> 20) % 7 && next < n; ++k, ++next) {
        if ((seed >> 10) % 2 == 0) {
          d.push(&all[next]);
        } else {
          d.push_continuation(&all[next]);
        }
      }
      for (unsigned k = 0; k < (seed >> 16) % 8; ++k) {
        auto* j = d.pop();
        if (j == nullptr) break;
        static_cast<counted*>(j)->taken += 1;
        ++taken;
      }
      if ((seed >> 8) % 64 == 0) std::this_thread::yield();
    }
    while (auto* j = d.pop()) {
      static_cast<counted*>(j)->taken += 1;
      ++taken;
    }
    while (taken < n) std::this_thread::yield();
    over = true;
    for (auto& t : threads) t.join();
    bool once = true;
    for (std::size_t i = 0; i < n; ++i) once = once && all[i].taken == 1;
    CHECK(once);
    CHECK(d.size() == 0);
  }
}

TEST_CASE("owner and thieves that compete for a single job get it once") {
  constexpr std::size_t n = 100000;
  deque d;
  std::atomic<std::size_t> got{0};
  std::atomic<bool> over{false};
  std::vector<counted> all(n);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!over) {
        if (auto* j = d.steal()) {
          static_cast<counted*>(j)->taken += 1;
          ++got;
        }
      }
    });
  }
  for (auto& j : all) {
    d.push_continuation(&j);
    if (d.pop_if(&j)) {
      j.taken += 1;
      ++got;
    }
  }
  while (got < n) std::this_thread::yield();
  over = true;
  for (auto& t : threads) t.join();
  bool once = true;
  for (auto& j : all) once = once && j.taken == 1;
  CHECK(once);
}
