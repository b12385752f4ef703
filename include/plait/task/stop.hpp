// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/exchange.hpp>
#include <plait/task/observers.hpp>
#include <plait/task/start_record.hpp>

#include <atomic>
#include <stop_token>
#include <utility>

// Requests to stop. A unit's node joins the tree of its family (sched/stop_node.hpp) when the unit asks, or waits where
// it can be interrupted. A request tells a node and all below it: their std::stop_tokens, and their suspensions.

PLAIT_INTERFACE

namespace plait::detail {

/// The family of the unit that has forked this one, with a subtree counted for the caller, or null if nobody has, or
/// the unit is ending. `of` can't end meanwhile.
inline family* family_above(unit& of) {
  const base::atomic_ref<family*> link(of.parent);
  auto* l = link.load(std::memory_order_acquire);  // partner: resume_parent
  if (l != nullptr && mark_in(l) == 0) return nullptr;
  for (base::backoff turns;;) {
    if (mark_in(l) == link_taken) {  // the parent runs beside it, or has ended: its family counts it
      family_in(l)->add_subtree();
      return family_in(l);
    }
    if (mark_in(l) == link_ended) return nullptr;
    if (l == nullptr) {
      // The parent is suspended, and its continuation lies in a queue. Who takes it waits for us.
      if (!link.compare_exchange_weak(l, marked(nullptr, link_busy), std::memory_order_acquire,
                                      std::memory_order_acquire)) {  // as above
        continue;
      }
      try {
        auto& above = static_cast<start_record&>(of).as->make_children();
        above.add_subtree();
        link.store(nullptr, std::memory_order_release);  // partner: resume_parent
        return &above;
      } catch (...) {
        link.store(nullptr, std::memory_order_release);  // as above
        throw;
      }
    }
    turns.wait();
    l = link.load(std::memory_order_acquire);  // as above
  }
}

/// Tells a unit: its tokens, and the place where it is suspended.
inline void tell(sched::stop_node& node) noexcept {
  node.mutex.lock();
  auto source = node.source;
  node.mutex.unlock();
  if (source.stop_possible()) source.request_stop();
  waiter* freed = nullptr;
  if (auto* where = node.take_suspension()) freed = where->interrupt();
  node.close();
  if (freed != nullptr) resume_later(freed);
}

/// Requests a stop of a unit and all that it has forked. The caller holds the family.
inline void request_stop(family& of) noexcept {
  family* first = nullptr;
  family* last = nullptr;
  const auto collect = [&](family& f) {
    if (!f.stops.request()) return;  // who did it before tells those below too
    f.add_subtree();
    f.stops.next_told = nullptr;
    (last != nullptr ? last->stops.next_told : first) = &f;
    last = &f;
  };
  collect(of);
  for (auto* f = first; f != nullptr; f = f->stops.next_told) {
    f->stops.mutex.lock();
    for (auto* below = f->stops.first_below; below != nullptr; below = below->stops.next_sibling) collect(*below);
    f->stops.mutex.unlock();
  }
  while (first != nullptr) {
    auto* f = base::exchange(first, first->stops.next_told);
    tell(f->stops);
    f->subtree_ended();
  }
}

/// The family of the running unit, which is in the tree from now on, as are all those above. Throws std::bad_alloc.
inline family& join_stop_tree(unit& running) {
  auto& own = running.make_children();
  if (own.stops.joined.load(std::memory_order_acquire)) return own;  // partner: the stores below
  auto* f = &own;
  auto* at = &running;     // cannot end while its node is locked
  family* told = nullptr;  // the highest one whose parent was told to stop
  f->stops.mutex.lock();
  while (!f->stops.joined.load(std::memory_order_relaxed)) {  // by its mutex
    family* above = nullptr;
    try {
      above = family_above(*at);
    } catch (...) {
      f->stops.mutex.unlock();
      throw;
    }
    if (above == nullptr) {
      f->stops.joined.store(true, std::memory_order_release);  // partner: the load above
      break;
    }
    above->stops.mutex.lock();
    f->join(*above);
    f->stops.joined.store(true, std::memory_order_release);  // as above
    if (above->stops.requested()) told = f;
    f->stops.mutex.unlock();
    f = above;
    at = above->stops.owner;
    if (at == nullptr) break;
  }
  f->stops.mutex.unlock();
  if (told != nullptr) request_stop(*told);
  return own;
}

/// Requests a stop of a task that is running, or is about to. False if it has ended.
inline bool stop_running(cell_base& cell, unit& of) {
  if (!hold_open(cell)) return false;
  family* f = nullptr;
  try {
    f = &of.make_children();
  } catch (...) {
    let_go(cell);
    throw;
  }
  f->add_subtree();
  let_go(cell);
  request_stop(*f);
  f->subtree_ended();
  return true;
}

}  // namespace plait::detail

/// What the running task can ask.
namespace plait::this_task {

/// The token that tells whether the task, or one that it was forked from, was asked to stop. Helpers that are awaited
/// inline share their caller's. Outside of a task: a token that never tells. Throws std::bad_alloc.
inline std::stop_token stop_token() {
  auto* w = sched::worker::of_this_thread();
  if (w == nullptr || w->current == nullptr) return {};
  auto& node = detail::join_stop_tree(*w->current).stops;
  node.mutex.lock();
  if (!node.source.stop_possible()) {
    node.mutex.unlock();
    std::stop_source fresh;  // may throw
    node.mutex.lock();
    if (!node.source.stop_possible()) node.source = std::move(fresh);
  }
  auto source = node.source;
  node.mutex.unlock();
  if (node.requested()) source.request_stop();
  return source.get_token();
}

/// Whether the task was asked to stop. False outside of a task.
inline bool cancelled() {
  auto* w = sched::worker::of_this_thread();
  return w != nullptr && w->current != nullptr && detail::join_stop_tree(*w->current).stops.requested();
}

}  // namespace plait::this_task
