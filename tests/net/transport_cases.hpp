// SPDX-License-Identifier: BSL-1.0
#pragma once

// What every transport must do, written for one rank's end and called on all ranks at once:
// by threads with the loopback, by processes with MPI.

#include <doctest/doctest.h>

#include <plait/base/errors.hpp>
#include <plait/net/transport.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "../support/waiting.hpp"

namespace plait_test {

using plait::net::frame;
using plait::net::frame_handler;
using plait::net::transport;
using namespace std::chrono_literals;
using bytes_view = std::span<const std::byte>;

/// Polls, and sleeps when there is nothing, until `done()` and all sends are complete; then meets the others.
template <class Handler, class Done>
void pump(transport& t, Handler&& handler, Done&& done, const char* what) {
  const waiting_for named(what);
  const auto finished = [&] { return done() && !t.sends_pending(); };
  while (!finished()) {
    if (t.poll(handler) != 0) continue;
    const std::uint64_t ticket = t.prepare_sleep();
    if (t.poll(handler) == 0 && !finished()) t.sleep(ticket, 100ms);
  }
  t.barrier();
}

inline std::byte expected_byte(int source, int dest, std::size_t size, std::size_t at) {
  return static_cast<std::byte>(
      (static_cast<std::size_t>(source) * 31 + static_cast<std::size_t>(dest) * 17 + size + at * 7 + (at >> 9)) & 0xff);
}

/// Every rank sends frames of the sizes given to every rank, itself included; all arrive once and unchanged.
inline void all_to_all(transport& t, const std::vector<std::size_t>& sizes, int rounds) {
  const int me = t.rank();
  const std::size_t expected = static_cast<std::size_t>(t.size() * rounds) * sizes.size();
  std::size_t arrived = 0;
  std::size_t wrong = 0;
  std::vector<std::vector<int>> count(static_cast<std::size_t>(t.size()), std::vector<int>(sizes.size()));
  const auto handler = [&](int source, bytes_view bytes) {
    ++arrived;
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 16 != 0) ++wrong;
    for (std::size_t at = 0; at < bytes.size(); ++at)
      if (bytes[at] != expected_byte(source, me, bytes.size(), at)) ++wrong;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] == bytes.size()) ++count[static_cast<std::size_t>(source)][i];
  };
  for (int round = 0; round < rounds; ++round)
    for (const std::size_t size : sizes)
      for (int dest = 0; dest < t.size(); ++dest) {
        frame out = t.new_frame();
        CHECK(out.empty());
        out.resize(size);
        for (std::size_t at = 0; at < size; ++at) out[at] = expected_byte(me, dest, size, at);
        t.send(dest, std::move(out));
        t.poll(handler);
      }
  pump(
      t, handler, [&] { return arrived == expected; }, "all frames of all ranks");
  CHECK(arrived == expected);
  CHECK(wrong == 0);
  for (const auto& row : count)
    for (const int times : row) CHECK(times == rounds);
}

/// Small frames of different sizes from one rank arrive in the order in which they were sent, though larger ones, which
/// may arrive at any time, are among them.
inline void order(transport& t, int frames) {
  const int me = t.rank();
  std::vector<std::uint32_t> next(static_cast<std::size_t>(t.size()));
  std::size_t arrived = 0;
  int out_of_order = 0;
  const auto handler = [&](int source, bytes_view bytes) {
    ++arrived;
    if (bytes.size() > plait::net::eager_limit) return;
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (number != next[static_cast<std::size_t>(source)]++) ++out_of_order;
  };
  std::size_t expected = 0;
  for (int i = 0; i < frames; ++i)
    for (int dest = 0; dest < t.size(); ++dest) {
      if (i % 50 == 0) t.send(dest, frame(plait::net::eager_limit * 3));
      const auto number = static_cast<std::uint32_t>(i);
      frame out(4 + (static_cast<std::size_t>(i) * 977) % (plait::net::eager_limit - 4));
      std::memcpy(out.data(), &number, sizeof number);
      t.send((dest + me) % t.size(), std::move(out));
      if (i % 7 == me % 7) t.poll(handler);
    }
  expected = static_cast<std::size_t>(t.size()) * static_cast<std::size_t>(frames + (frames + 49) / 50);
  pump(
      t, handler, [&] { return arrived == expected; }, "the frames in order");
  CHECK(arrived == expected);
  CHECK(out_of_order == 0);
}

/// A frame goes round, each rank sends it on from its handler, and it grows across the limit of small ones.
inline void handler_sends(transport& t, int laps) {
  const int right = (t.rank() + 1) % t.size();
  const int last = laps * t.size();
  bool ended = false;
  int hops = 0;
  const auto handler = [&](int, bytes_view bytes) {
    ++hops;
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (static_cast<int>(number) >= last) ended = true;  // the last lap is only passed on
    if (static_cast<int>(number) >= last + t.size() - 1) return;
    ++number;
    frame out = t.new_frame();
    out.resize(4 + number * 101);
    std::memcpy(out.data(), &number, sizeof number);
    t.send(right, std::move(out));
  };
  if (t.rank() == 0) t.send(right, frame(4));
  pump(
      t, handler, [&] { return ended; }, "the frame that goes round");
  CHECK(hops >= laps);
}

/// An exception of the handler leaves poll, and the frames behind it are still delivered.
inline void handler_throws(transport& t) {
  const int frames = 40;
  int arrived = 0;
  int thrown = 0;
  const auto handler = [&](int, bytes_view) {
    if (++arrived % 3 == 0) throw std::runtime_error("no");
  };
  const auto patient = [&](int source, bytes_view bytes) { handler(source, bytes); };
  for (int i = 0; i < frames; ++i) t.send((t.rank() + 1) % t.size(), frame(i % 10 == 0 ? 20'000 : 100));
  const waiting_for named("frames whose handler throws");
  while (arrived < frames || t.sends_pending()) {
    try {
      t.poll(patient);
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  t.barrier();
  CHECK(arrived == frames);
  CHECK(thrown == frames / 3);
}

/// A rank that sleeps is woken by a frame long before the end of its sleep.
inline void sleeper_is_woken_by_a_frame(transport& t) {
  const int me = t.rank();
  for (int round = 0; round < 5; ++round) {
    const int sender = round % t.size();
    t.barrier();
    if (me == sender) {
      std::this_thread::sleep_for(20ms);
      for (int dest = 0; dest < t.size(); ++dest)
        if (dest != me) t.send(dest, frame(8));
      pump(
          t, [](int, bytes_view) {}, [] { return true; }, "sends to sleepers");
      continue;
    }
    bool arrived = false;
    const auto handler = [&](int, bytes_view) { arrived = true; };
    const auto start = std::chrono::steady_clock::now();
    int sleeps = 0;
    while (!arrived) {
      const std::uint64_t ticket = t.prepare_sleep();
      if (t.poll(handler) != 0) break;
      t.sleep(ticket, 20s);
      ++sleeps;
      t.poll(handler);
    }
    CHECK(std::chrono::steady_clock::now() - start < 5s);
    CHECK(sleeps < 5000);
    pump(
        t, handler, [] { return true; }, "the others");
  }
}

/// wake() ends a sleep of its own rank, also one that is only prepared.
inline void wake_is_not_lost(transport& t, int rounds) {
  const auto none = [](int, bytes_view) {};
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    std::atomic<bool> called{false};
    const std::uint64_t ticket = t.prepare_sleep();
    std::thread other([&] {
      if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round * 10));
      called = true;
      t.wake();
    });
    if (round % 3 == 0) other.join();  // certainly between the two halves
    std::uint64_t current = ticket;
    while (!called) {
      t.sleep(current, 20s);
      if (called) break;
      current = t.prepare_sleep();
      if (called) break;
      t.poll(none);
    }
    if (other.joinable()) other.join();
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  t.barrier();
}

/// Sleeps of a rank to which nothing comes last about as long as they may, in few pieces.
inline void sleep_has_a_time_limit(transport& t, int most_sleeps) {
  t.barrier();
  const auto none = [](int, bytes_view) {};
  const auto start = std::chrono::steady_clock::now();
  int sleeps = 0;
  while (std::chrono::steady_clock::now() - start < 50ms) {
    const std::uint64_t ticket = t.prepare_sleep();
    t.poll(none);
    t.sleep(ticket, 50ms - std::min<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start, 50ms));
    ++sleeps;
  }
  CHECK(std::chrono::steady_clock::now() - start < 5s);
  CHECK(sleeps <= most_sleeps);
  t.barrier();
}

/// A rank whose large frame is not taken for a while, because the receiver computes, waits without using much of a
/// core.
inline void waiting_sender_uses_little(transport& t) {
  const auto count = [](int, bytes_view) {};
  t.barrier();
  if (t.rank() == 0) {
    for (int dest = 1; dest < t.size(); ++dest) t.send(dest, frame(4 << 20));
    const std::clock_t start = std::clock();
    pump(
        t, count, [] { return true; }, "the large frames to be taken");
    CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 0.35);
  } else {
    int arrived = 0;
    std::this_thread::sleep_for(700ms);
    pump(
        t, [&](int, bytes_view) { ++arrived; }, [&] { return arrived == 1; }, "the large frame");
  }
}

/// The collectives of the start give all ranks the same.
inline void collectives(transport& t) {
  for (int root = 0; root < t.size(); ++root) {
    std::vector<std::byte> bytes;
    if (t.rank() == root) bytes.assign(static_cast<std::size_t>(100'000 * root + 3), static_cast<std::byte>(root + 1));
    t.broadcast(bytes, root);
    CHECK(bytes.size() == static_cast<std::size_t>(100'000 * root + 3));
    CHECK(bytes.back() == static_cast<std::byte>(root + 1));
  }
  std::vector<std::byte> nothing(static_cast<std::size_t>(t.rank()));
  t.broadcast(nothing, 0);
  CHECK(nothing.empty());
  const std::vector<std::int64_t> all = t.gather_all(-5 * t.rank());
  REQUIRE(all.size() == static_cast<std::size_t>(t.size()));
  for (int rank = 0; rank < t.size(); ++rank) CHECK(all[static_cast<std::size_t>(rank)] == -5 * rank);
  t.barrier();
}

/// A barrier at which a rank is late ends at its time limit, and the same barrier is completed later.
inline void barrier_has_a_time_limit(transport& t) {
  t.barrier();
  if (t.rank() == t.size() - 1) {
    std::this_thread::sleep_for(200ms);
    t.barrier();
  } else {
    CHECK_FALSE(t.try_barrier(5ms));
    CHECK_FALSE(t.try_barrier(0ms));
    CHECK(t.try_barrier(20s));
  }
  CHECK(t.try_barrier(20s));
}

/// Names and hosts.
inline void hosts(transport& t) {
  CHECK(!t.host_name().empty());
  CHECK(t.host_of(0) == 0);
  for (int rank = 0; rank < t.size(); ++rank) CHECK(t.host_of(rank) == 0);
}

/// What cannot be sent.
inline void errors(transport& t) {
  CHECK_THROWS_AS(t.send(0, frame()), plait::error);
  CHECK_THROWS_AS(t.send(t.size(), frame(1)), plait::error);
  CHECK_THROWS_AS(t.send(-1, frame(1)), plait::error);
  t.barrier();
}

}  // namespace plait_test
