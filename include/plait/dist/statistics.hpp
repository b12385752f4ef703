// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/copyable_array.hpp>
#include <plait/obs/histogram.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// What one worker has done. Forks and times are counted where statistics were asked for (PLAIT_STATS,
/// options::stats), else 0. Times in seconds.
struct worker_statistics {
  int worker = 0;  ///< counted over all ranks
  int rank = 0;
  std::uint64_t forked = 0;     ///< tasks that it forked
  std::uint64_t spawned = 0;    ///< tasks that its tasks spawned in its pool
  std::uint64_t submitted = 0;  ///< tasks that its tasks submitted
  std::uint64_t executed = 0;   ///< submitted tasks that it ran
  std::uint64_t imported = 0;   ///< of these: those that came from another rank
  std::uint64_t stolen = 0;     ///< jobs that it took from other workers of its rank
  double busy = 0;              ///< ran tasks
  double searching = 0;         ///< looked for some
  double idle = 0;              ///< slept
  double communication = 0;     ///< saw to messages while it had tasks
};

/// What one rank has done.
struct rank_statistics {
  int rank = 0;
  std::string host;
  std::uint64_t messages = 0;      ///< frames that it sent; each may hold many messages
  std::uint64_t bytes = 0;         ///< that it sent
  std::uint64_t given = 0;         ///< tasks that left it
  std::uint64_t taken = 0;         ///< tasks of others that it ran
  std::uint64_t frame_memory = 0;  ///< bytes that its process holds for frames of tasks
  std::uint64_t peak_memory = 0;   ///< most bytes that its process had in memory
};

/// How long the spawned and submitted tasks of one name took, from the beginning to the end of each, waits included. In
/// seconds.
struct task_statistics {
  std::string name;
  std::uint64_t count = 0;
  double total = 0;
  double max = 0;  ///< since the runtime began

  double mean() const noexcept { return count == 0 ? 0 : total / static_cast<double>(count); }
  /// The time that a part q (0 to 1) of the tasks did not exceed, within 3.2 %; 0 if there was none.
  double quantile(double q) const noexcept {
    const double wanted = q * static_cast<double>(count);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < in_range.size(); ++i) {
      seen += in_range[i];
      if (seen == 0 || static_cast<double>(seen) < wanted) continue;
      const double found = obs::time_in_range(i) * 1e-9;
      return found < max ? found : max;
    }
    return 0;
  }

  base::copyable_array<std::uint64_t> in_range;  ///< how many took times of each range: see obs/histogram.hpp
};

/// What all workers of all ranks have done since a runtime began, or between two moments: `later - earlier`.
struct statistics {
  double seconds = 0;
  base::copyable_array<worker_statistics> workers;  ///< by number
  base::copyable_array<rank_statistics> ranks;      ///< by number
  base::copyable_array<task_statistics> tasks;      ///< those that took most time in all come first

  /// One JSON object; with names of any bytes it is valid, also within HTML.
  std::string json() const;
  /// A table for people, of lines that begin with `plait: `.
  std::string table() const;
};

namespace dist {

inline void subtract(worker_statistics& w, const worker_statistics& earlier) noexcept {
  w.forked -= earlier.forked;
  w.spawned -= earlier.spawned;
  w.submitted -= earlier.submitted;
  w.executed -= earlier.executed;
  w.imported -= earlier.imported;
  w.stolen -= earlier.stolen;
  w.busy -= earlier.busy;
  w.searching -= earlier.searching;
  w.idle -= earlier.idle;
  w.communication -= earlier.communication;
}

inline void subtract(task_statistics& t, const task_statistics& earlier) noexcept {
  t.count -= earlier.count;
  t.total -= earlier.total;
  for (std::size_t i = 0; i < t.in_range.size() && i < earlier.in_range.size(); ++i)
    t.in_range[i] -= earlier.in_range[i];
}

/// Puts the tasks into the order of their total times; equal ones by name.
inline void order_tasks(base::copyable_array<task_statistics>& tasks) {
  for (std::size_t i = 1; i < tasks.size(); ++i) {  // by insertion: there are few, and mostly in order
    for (std::size_t k = i; k > 0; --k) {
      auto& a = tasks[k - 1];
      auto& b = tasks[k];
      if (a.total > b.total || (a.total == b.total && a.name <= b.name)) break;
      std::swap(a, b);
    }
  }
}

/// The one of that name, or null.
inline task_statistics* find_task(base::copyable_array<task_statistics>& tasks, std::string_view name) noexcept {
  for (auto& t : tasks) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

}  // namespace dist

/// What was done between two statistics of one runtime. Memory and the longest times are those of the later one.
inline statistics operator-(statistics later, const statistics& earlier) {
  later.seconds -= earlier.seconds;
  for (std::size_t i = 0; i < later.workers.size() && i < earlier.workers.size(); ++i)
    dist::subtract(later.workers[i], earlier.workers[i]);
  for (std::size_t i = 0; i < later.ranks.size() && i < earlier.ranks.size(); ++i) {
    auto& r = later.ranks[i];
    r.messages -= earlier.ranks[i].messages;
    r.bytes -= earlier.ranks[i].bytes;
    r.given -= earlier.ranks[i].given;
    r.taken -= earlier.ranks[i].taken;
  }
  for (const auto& t : earlier.tasks) {
    if (auto* found = dist::find_task(later.tasks, t.name)) dist::subtract(*found, t);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < later.tasks.size(); ++i) {
    if (later.tasks[i].count == 0) continue;
    if (kept != i) later.tasks[kept] = std::move(later.tasks[i]);
    ++kept;
  }
  while (later.tasks.size() > kept) later.tasks.pop_back();
  dist::order_tasks(later.tasks);
  return later;
}

}  // namespace PLAIT_DIST
}  // namespace plait
