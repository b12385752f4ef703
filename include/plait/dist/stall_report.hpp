// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/text.hpp>
#include <plait/dist/slots.hpp>
#include <plait/dist/visitors.hpp>
#include <plait/sched/pool.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>

// What a rank says that has unfinished tasks and on which nothing happens.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// How many tasks there are of each callable.
class callable_census {
 public:
  void add(const wire::registry_entry& callable) {
    ++total_;
    std::size_t i = 0;
    while (i < counts_.size() && counts_[i].callable != &callable) ++i;
    if (i == counts_.size()) counts_.push_back({&callable, 0});
    ++counts_[i].count;
  }

  /// A line: how many of what, and of which callables. Nothing if there are none.
  void append_to(base::text& all, const char* what) const {
    if (total_ == 0) return;
    base::compose_onto(all, {"plait:   ", what, ": ", total_});
    for (std::size_t i = 0; i < counts_.size() && i < most_named; ++i)
      base::compose_onto(all, {i == 0 ? " (" : ", ", counts_[i].count, " x ", counts_[i].callable->name()});
    base::compose_onto(all, {counts_.size() > most_named ? ", and others)\n" : ")\n"});
  }

 private:
  static constexpr std::size_t most_named = 6;

  struct count_of {
    const wire::registry_entry* callable;
    std::uint64_t count;
  };
  base::growing_array<count_of> counts_;
  std::uint64_t total_ = 0;
};

/// The report of a rank in whose run nothing has happened for `calm`: which of its tasks other ranks have, which of
/// theirs are here, and how many are suspended. Any thread, in a run. Throws std::bad_alloc.
inline base::text stall_report(int rank, std::chrono::nanoseconds calm, slot_table& awaited, visitors& hosted,
                               plait::pool& workers) {
  callable_census away;
  awaited.for_each([&away](awaiting_reply& who) { away.add(who.called()); });
  callable_census here;
  hosted.for_each([&here](visitor& v) { here.add(*v.callable); });
  std::uint64_t suspended = 0;
  for (unsigned i = 0; i < workers.size(); ++i) suspended += workers.at(i).suspended.size();

  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g", static_cast<double>(calm.count()) / 1e9);
  auto all = base::compose_text(
      {"plait: rank ", rank, ": nothing has run here and no message has come for ", seconds,
       " s, but tasks are not finished. They wait long, or for something that never comes (PLAIT_STALL_WARN sets when "
       "this is said, 0 never):\n"});
  const auto nothing = all.size();
  away.append_to(all, "waited for from other ranks");
  here.append_to(all, "here for other ranks");
  if (suspended != 0)
    base::compose_onto(all, {"plait:   suspended at timers, promises or sync objects: ", suspended, "\n"});
  if (all.size() == nothing) {
    base::compose_onto(all, {"plait:   at something else: a call in blocking(), another pool, or an awaitable of "
                             "another library\n"});
  }
  return all;
}

/// Prints it if all workers sleep, and says whether it has.
inline bool print_stall(int rank, std::chrono::nanoseconds calm, slot_table& awaited, visitors& hosted,
                        plait::pool& workers) {
  if (workers.parking().sleepers() < workers.size()) return false;
  std::fputs(stall_report(rank, calm, awaited, hosted, workers).c_str(), stderr);
  return true;
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
