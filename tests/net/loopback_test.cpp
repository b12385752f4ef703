// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/loopback.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "transport_cases.hpp"

using plait::net::eager_limit;
using plait::net::loopback_world;
using namespace plait_test;

namespace {

/// Calls body(end) on a thread for each rank.
template <class Body>
void on_ranks(int ranks, Body body) {
  loopback_world world(ranks);
  std::vector<std::thread> threads;
  for (int rank = 1; rank < ranks; ++rank) threads.emplace_back([&, rank] { body(world.end(rank)); });
  body(world.end(0));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("loopback ranks exchange frames of all sizes") {
  for (const int ranks : {1, 2, 3, 5})
    on_ranks(ranks, [](transport& t) { all_to_all(t, {1, 16, eager_limit - 1, eager_limit, eager_limit + 1}, 3); });
}

TEST_CASE("loopback ranks keep the order of frames") {
  on_ranks(3, [](transport& t) { order(t, 300); });
}

TEST_CASE("a handler on the loopback sends frames") {
  for (const int ranks : {1, 2, 4}) on_ranks(ranks, [](transport& t) { handler_sends(t, 50); });
}

TEST_CASE("a handler on the loopback throws and no frame is lost") { on_ranks(2, handler_throws); }

TEST_CASE("a sleeping loopback rank is woken by a frame") { on_ranks(3, sleeper_is_woken_by_a_frame); }

TEST_CASE("a wake of a loopback rank is not lost") {
  on_ranks(2, [](transport& t) { wake_is_not_lost(t, 30); });
}

TEST_CASE("a loopback rank sleeps to its time limit") {
  on_ranks(2, [](transport& t) { sleep_has_a_time_limit(t, 20); });
}

TEST_CASE("loopback ranks do collectives") { on_ranks(4, collectives); }

TEST_CASE("a loopback barrier has a time limit") {
  for (const int ranks : {1, 3}) on_ranks(ranks, barrier_has_a_time_limit);
}

TEST_CASE("loopback ranks share a host and refuse nonsense") {
  on_ranks(2, hosts);
  on_ranks(2, errors);
  CHECK_THROWS_AS(loopback_world(0), plait::error);
}

TEST_CASE("several threads of each loopback rank poll, send and sleep under a lock") {
  constexpr int ranks = 3;
  constexpr int threads_each = 2;
  constexpr int frames_each = 2000;
  loopback_world world(ranks);
  std::atomic<int> arrived{0};
  std::atomic<int> sent{0};
  constexpr int expected = ranks * threads_each * frames_each;
  std::vector<std::mutex> locks(ranks);
  std::vector<std::mutex> beds(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    for (int thread = 0; thread < threads_each; ++thread)
      threads.emplace_back([&, rank, thread] {
        transport& t = world.end(rank);
        std::mutex& lock = locks[static_cast<std::size_t>(rank)];
        std::mutex& bed = beds[static_cast<std::size_t>(rank)];
        const auto count = [&](int, bytes_view) {
          if (++arrived == expected)
            for (int each = 0; each < ranks; ++each) world.end(each).wake();
        };
        for (int i = 0; i < frames_each; ++i) {
          const std::scoped_lock holds(lock);
          t.send((rank + thread + i) % ranks, frame(1 + static_cast<std::size_t>(i % 64)));
          ++sent;
          if (i % 5 == 0) t.poll(count);
        }
        while (arrived != expected) {
          {
            const std::scoped_lock holds(lock);
            if (t.poll(count) != 0) continue;
          }
          const std::unique_lock sleeper(bed, std::try_to_lock);
          if (!sleeper) {
            std::this_thread::yield();
            continue;
          }
          const std::uint64_t ticket = t.prepare_sleep();
          {
            const std::scoped_lock holds(lock);
            if (t.poll(count) != 0) continue;
          }
          if (arrived != expected) t.sleep(ticket, 20s);
        }
      });
  for (std::thread& thread : threads) thread.join();
  CHECK(sent == expected);
  CHECK(arrived == expected);
}
