// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/dist/node.hpp>
#include <plait/dist/statistics.hpp>
#include <plait/obs/recorder.hpp>
#include <plait/wire/reader.hpp>
#include <plait/wire/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

// The numbers of all ranks, from where they are counted.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Of one of this rank's workers.
inline worker_statistics statistics_of(node& home, unsigned index) {
  const auto& w = home.pool().at(index);
  const auto now = base::now().time_since_epoch().count();
  const auto seconds = [&](obs::activity a) { return static_cast<double>(w.account.spent(a, now)) * 1e-9; };
  worker_statistics s;
  s.worker = home.numbers().first_of(home.rank()) + static_cast<int>(index);
  s.rank = home.rank();
  s.forked = w.counters.forked.read();
  s.spawned = w.counters.spawned.read();
  s.submitted = w.counters.submitted.read();
  s.executed = w.counters.executed.read();
  s.imported = w.counters.imported.read();
  s.stolen = w.counters.stolen.read();
  s.busy = seconds(obs::activity::work);
  s.searching = seconds(obs::activity::search);
  s.idle = seconds(obs::activity::sleep);
  s.communication = seconds(obs::activity::communication);
  return s;
}

inline rank_statistics statistics_of_rank(node& home) {
  rank_statistics r;
  r.rank = home.rank();
  r.host = std::string(home.transport().host_name());
  r.messages = home.outgoing().frames_sent();
  r.bytes = home.outgoing().bytes_sent();
  r.given = home.outgoing().tasks_sent();
  for (unsigned i = 0; i < home.pool().size(); ++i) r.taken += home.pool().at(i).counters.imported.read();
  r.frame_memory = base::frame_depot::instance().reserved_bytes();
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  r.peak_memory = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return r;
}

/// Adds the times of one worker's tasks of a name.
inline void add_times(base::copyable_array<task_statistics>& tasks, std::string_view name,
                      const obs::time_counts& times) {
  auto* found = find_task(tasks, name);
  if (found == nullptr) {
    found = &tasks.add();
    found->name = std::string(name);
    found->in_range.resize(obs::time_ranges);
  }
  found->count += times.count.read();
  found->total += static_cast<double>(times.total.read()) * 1e-9;
  const auto most = static_cast<double>(times.most.read()) * 1e-9;
  if (most > found->max) found->max = most;
  for (std::size_t i = 0; i < obs::time_ranges; ++i) found->in_range[i] += times.in_range[i].read();
}

template <class Number>
void put(wire::writer& out, const Number& n) {
  out.write(&n, sizeof n);
}
template <class Number>
void get(wire::reader& in, Number& n) {
  in.read(&n, sizeof n);
}
inline void put_text(wire::writer& out, const std::string& text) {
  out.write_size(text.size());
  out.write(text.data(), text.size());
}
inline std::string get_text(wire::reader& in) {
  const auto bytes = in.take(in.read_size());
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Of this rank alone. recorders: of its workers, or null. began: when the runtime did.
inline statistics statistics_here(node& home, const obs::recorder* recorders,
                                  std::chrono::steady_clock::time_point began) {
  statistics own;
  own.seconds =
      static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(base::now() - began).count()) * 1e-9;
  for (unsigned i = 0; i < home.pool().size(); ++i) own.workers.push_back(statistics_of(home, i));
  own.ranks.push_back(statistics_of_rank(home));
  for (unsigned i = 0; i < home.pool().size() && recorders != nullptr; ++i)
    recorders[i].times.for_each(
        [&](std::string_view name, const obs::time_counts& t) { add_times(own.tasks, name, t); });
  return own;
}

inline std::vector<std::byte> packed(const statistics& own) {
  const auto& rank = own.ranks[0];
  return wire::written([&](wire::writer& out) {
    out.write_size(own.workers.size());
    for (const auto& w : own.workers) put(out, w);
    put_text(out, rank.host);
    for (const auto n : {rank.messages, rank.bytes, rank.given, rank.taken, rank.frame_memory, rank.peak_memory})
      put(out, n);
    out.write_size(own.tasks.size());
    for (const auto& t : own.tasks) {
      put_text(out, t.name);
      put(out, t.count);
      put(out, t.total);
      put(out, t.max);
      out.write(t.in_range.begin(), t.in_range.size() * sizeof t.in_range[0]);
    }
  });
}

/// Adds what a rank has sent.
inline void add_rank(statistics& all, wire::reader& in, int rank) {
  for (auto count = in.read_size(); count > 0; --count) get(in, all.workers.add());
  auto& r = all.ranks.add();
  r.rank = rank;
  r.host = get_text(in);
  for (auto* n : {&r.messages, &r.bytes, &r.given, &r.taken, &r.frame_memory, &r.peak_memory}) get(in, *n);
  task_statistics t;
  t.in_range.resize(obs::time_ranges);
  for (auto count = in.read_size(); count > 0; --count) {
    t.name = get_text(in);
    get(in, t.count);
    get(in, t.total);
    get(in, t.max);
    in.read(t.in_range.begin(), t.in_range.size() * sizeof t.in_range[0]);
    auto* found = find_task(all.tasks, t.name);
    if (found == nullptr) {
      all.tasks.push_back(t);
      continue;
    }
    found->count += t.count;
    found->total += t.total;
    if (t.max > found->max) found->max = t.max;
    for (std::size_t i = 0; i < obs::time_ranges; ++i) found->in_range[i] += t.in_range[i];
  }
}

/// Collective, between runs: all ranks get what each has.
inline statistics gather_statistics(net::transport& transport, const statistics& own) {
  statistics all;
  all.seconds = own.seconds;
  const auto mine = packed(own);
  for (int r = 0; r < transport.size(); ++r) {
    std::vector<std::byte> bytes;
    if (r == transport.rank()) bytes = mine;
    transport.broadcast(bytes, r);
    wire::reader in(bytes);
    add_rank(all, in, r);
  }
  order_tasks(all.tasks);
  return all;
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
