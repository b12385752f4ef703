// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "../uts/tree.hpp"
#include "problem.hpp"

#include <plait/net/simulated.hpp>
#include <plait/plait.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using std::chrono::nanoseconds;

/// What the tasks of the present simulation write down: one thread runs them all.
struct record {
  plait::net::simulated_world* world = nullptr;
  std::vector<nanoseconds> first;  ///< when each rank began its first task; -1: not yet
  nanoseconds last{};              ///< the end of the last task
  nanoseconds work{};
  nanoseconds node_time{};
  const uts::tree* tree = nullptr;
  long tasks = 0;
  double idle_frames = 0;
};
record now;

void work_for(nanoseconds time) {
  auto& first = now.first[static_cast<std::size_t>(plait::rank())];
  if (first.count() < 0) first = now.world->time();
  plait::charge(time);
  now.last = now.world->time();
  now.work += time;
  ++now.tasks;
}

void visit(const uts::node& n) {
  const int children = n.children(*now.tree);
  for (int i = 0; i < children; ++i) static_cast<void>(plait::submit<visit>(uts::node(n, i)));
  work_for(now.node_time);
}

plait::task<void> walk() {
  static_cast<void>(plait::submit<visit>(uts::node(*now.tree)));
  co_return;
}

/// Lognormal times with sigma 1, scaled to what they have to add up to.
plait::task<void> fill(const scale::machine& m) {
  const double total = m.seconds * m.ranks * m.workers;
  std::mt19937_64 random(m.seed);
  std::lognormal_distribution<double> lognormal(std::log(m.task_seconds) - 0.5, 1);
  std::vector<double> times(static_cast<std::size_t>(total / m.task_seconds));
  double sum = 0;
  for (auto& t : times) sum += t = lognormal(random);
  for (const double t : times)
    static_cast<void>(plait::submit<work_for>(nanoseconds(std::llround(t * total / sum * 1e9))));
  co_return;
}

/// One task; all other ranks are idle. The first half is for them to calm down.
plait::task<void> be_alone() {
  const auto half = std::chrono::milliseconds(500);
  plait::charge(half);
  const auto before = now.world->sent().frames;
  plait::charge(half);
  now.idle_frames = static_cast<double>(now.world->sent().frames - before) / 0.5 / now.world->size();
  co_return;
}

double resident_kib() {
  long size = 0;
  long resident = 0;
  if (auto* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

double seconds(nanoseconds time) { return static_cast<double>(time.count()) * 1e-9; }
nanoseconds to_nanoseconds(double s) { return nanoseconds(std::llround(s * 1e9)); }

}  // namespace

scale::outcome scale::simulate(const machine& m) {
  const double real_start = bench::seconds();
  const double memory_before = resident_kib();
  plait::net::simulated_world world(
      m.ranks, m.seed,
      {.latency = to_nanoseconds(m.latency), .bytes_per_second = m.bandwidth, .wake = to_nanoseconds(m.wake)});
  now = {};
  now.world = &world;
  now.first.assign(static_cast<std::size_t>(m.ranks), nanoseconds(-1));
  if (m.what != problem::bag) {
    now.tree = &uts::tree::number(m.what == problem::uts1 ? 1 : 3);
    now.node_time = to_nanoseconds(m.seconds * m.ranks * m.workers / static_cast<double>(now.tree->nodes));
  }

  nanoseconds start{};
  nanoseconds end{};
  std::uint64_t frames = 0;
  double memory = 0;
  world.run([&](plait::net::transport& transport) {
    plait::options o;
    o.workers = m.workers;
    plait::runtime rt(transport, o);
    transport.barrier();
    if (rt.rank() == 0) memory = (resident_kib() - memory_before) / m.ranks;
    rt.run([] { return be_alone(); });
    transport.barrier();
    const auto frames_before = world.sent().frames;
    start = world.time();
    rt.run([&m] { return m.what == problem::bag ? fill(m) : walk(); });
    end = std::max(end, world.time());
    frames = world.sent().frames - frames_before;
    transport.barrier();
  });

  const long expected =
      now.tree != nullptr ? now.tree->nodes : static_cast<long>(m.seconds * m.ranks * m.workers / m.task_seconds);
  const bool all_began = std::ranges::min(now.first).count() >= 0;
  return {.right = now.tasks == expected,
          .tasks = now.tasks,
          .efficiency = seconds(now.work) / (seconds(end - start) * m.ranks * m.workers),
          .distributed = all_began ? seconds(std::ranges::max(now.first) - start) : -1,
          .ended = seconds(end - now.last),
          .frames_a_task = static_cast<double>(frames) / static_cast<double>(now.tasks),
          .idle_frames = now.idle_frames,
          .rank_kib = memory,
          .real_seconds = bench::seconds() - real_start};
}
