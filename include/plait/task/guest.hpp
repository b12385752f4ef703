// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/start_record.hpp>

#include <utility>

// Units that go on in another pool than their own. That pool counts them while they are there, and those that they
// spawn there until all that came of these has ended, so that it does not end before. Where a unit is complete its own
// pool has to hear of it, since one of its workers may be waiting for that: where the last of it has ended elsewhere, a
// job says so there.

PLAIT_INTERFACE

namespace plait::detail {

using sched::guest_record;

inline family* end_guest(guest_record* g) noexcept {
  auto* start = g->start;
  auto* above = g->above;
  delete g;
  if (start != nullptr) start->subtree_ended();
  return above;
}

inline family* leave_as_guest(guest_record* g, family* above) noexcept {
  g->above = above;
  if (auto* host = base::exchange(g->host, nullptr)) host->subtree_ended();
  const auto* w = worker::of_this_thread();
  if (g->home == nullptr || above == nullptr || (w != nullptr && &w->home() == g->home)) return end_guest(g);
  g->execute = [](sched::job* j, worker&) noexcept {
    auto* told = end_guest(static_cast<guest_record*>(j));
    told->subtree_ended();
  };
  g->home->post(g);
  return nullptr;
}

/// The record of a unit. By its own running code. Throws std::bad_alloc.
inline guest_record& guest_record_of(unit& u) {
  auto& own = u.make_children();
  if (own.guest() == nullptr) {
    own.set_guest(new guest_record{{nullptr, nullptr, nullptr}, &leave_as_guest, nullptr, nullptr, nullptr, nullptr});
  }
  return *own.guest();
}

/// A unit that somebody starts in the pool where he may be a guest. Throws std::bad_alloc.
template <class = void>  // compiled where it is used
PLAIT_NOINLINE void start_in_host(unit& started, pool& host) {
  auto& g = guest_record_of(started);
  host.ground().add_subtree();  // the pool can't be at its end: the caller runs there
  g.start = &host.ground();
}

/// The running unit goes from a worker to another pool. Throws plait::error if that one is ending.
inline void move_guest(unit& u, worker& from, pool& to) {
  auto& g = guest_record_of(u);
  if (g.home == nullptr) g.home = &from.home();
  family* next = nullptr;
  if (&to != g.home) {
    to.admit();
    next = &to.ground();
  }
  // From here on the pool that it leaves may end; it waits for the thread of its worker.
  if (auto* before = base::exchange(g.host, next)) before->subtree_ended();
}

}  // namespace plait::detail
