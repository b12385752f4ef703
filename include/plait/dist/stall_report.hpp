// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/text.hpp>
#include <plait/dist/pollables.hpp>
#include <plait/dist/slots.hpp>
#include <plait/dist/visitors.hpp>
#include <plait/sched/pool.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>

// What a rank says in a run in which nothing happens on any rank.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// How many there are of each of several things.
template <class Thing, class Name>
class census {
 public:
  explicit census(Name name) noexcept : name_(name) {}

  void add(const Thing& thing) {
    ++total_;
    std::size_t i = 0;
    while (i < counts_.size() && counts_[i].thing != &thing) ++i;
    if (i == counts_.size()) counts_.push_back({&thing, 0});
    ++counts_[i].count;
  }

  /// A line: how many of what, and their names. Nothing if there are none.
  void append_to(base::text& all, const char* what) const {
    if (total_ == 0) return;
    base::compose_onto(all, {"plait:   ", what, ": ", total_});
    for (std::size_t i = 0; i < counts_.size() && i < most_named; ++i)
      base::compose_onto(all, {i == 0 ? " (" : ", ", counts_[i].count, " x ", name_(*counts_[i].thing)});
    base::compose_onto(all, {counts_.size() > most_named ? ", and others)\n" : ")\n"});
  }

 private:
  static constexpr std::size_t most_named = 6;

  struct count_of {
    const Thing* thing;
    std::uint64_t count;
  };
  Name name_;
  base::growing_array<count_of> counts_;
  std::uint64_t total_ = 0;
};

/// Where a rank keeps what it waits for.
struct waits {
  slot_table& awaited;
  visitors& hosted;
  const pollables& requests;
  plait::pool& workers;
};

inline void append_line(base::text& all, const char* what, std::uint64_t count) {
  if (count != 0) base::compose_onto(all, {"plait:   ", what, ": ", count, "\n"});
}

/// The report of a rank in a run in which nothing has run on any rank for `calm`: which of its tasks other ranks have,
/// which of theirs are here, the native requests that tasks await, how many tasks are suspended, and how many workers
/// block. unfinished: whether the rank has tasks that are not finished. By the holder of the transport. Throws
/// std::bad_alloc.
inline base::text stall_report(int rank, std::chrono::nanoseconds calm, const waits& of, bool unfinished) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.3g", static_cast<double>(calm.count()) / 1e9);
  auto all = base::compose_text(
      {"plait: rank ", rank, ": nothing has run on any rank for ", seconds, " s, and the run is not over. "});
  if (!unfinished) {
    base::compose_onto(all, {"This rank has no tasks: it waits for the others\n"});
    return all;
  }
  base::compose_onto(
      all, {"What it waits for takes long, or never comes (PLAIT_STALL_WARN sets when this is said, 0 never):\n"});
  const auto nothing = all.size();

  const auto name_of_callable = [](const wire::registry_entry& c) { return c.name(); };
  census<wire::registry_entry, decltype(name_of_callable)> away(name_of_callable);
  of.awaited.for_each([&away](awaiting_reply& who) { away.add(who.called()); });
  away.append_to(all, "waited for from other ranks");
  census<wire::registry_entry, decltype(name_of_callable)> here(name_of_callable);
  of.hosted.for_each([&here](visitor& v) { here.add(*v.callable); });
  here.append_to(all, "here for other ranks");

  const auto name_of_call = [](const char& first) { return static_cast<const char*>(&first); };
  census<char, decltype(name_of_call)> calls(name_of_call);
  of.requests.for_each([&calls](const pollable& p) { calls.add(*p.call()); });
  calls.append_to(all, "calls of native MPI awaited");

  std::uint64_t suspended = 0;
  for (unsigned i = 0; i < of.workers.size(); ++i) suspended += of.workers.at(i).suspended.size();
  append_line(all, "suspended at timers, promises or sync objects", suspended);
  append_line(all, "workers that block in get, wait, or the end of a future", of.workers.parking().helpers_at_rest());
  if (all.size() == nothing) {
    base::compose_onto(
        all, {"plait:   at something else: a call in blocking(), another pool, or an awaitable of another library\n"});
  }
  return all;
}

/// Prints it. No memory for the words: prints nothing.
inline void print_stall(int rank, std::chrono::nanoseconds calm, const waits& of, bool unfinished) noexcept {
  try {
    std::fputs(stall_report(rank, calm, of, unfinished).c_str(), stderr);
  } catch (...) {
  }
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
