// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>
#include <plait/task/guest.hpp>
#include <plait/task/stop.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// Executes a spawned task that has been claimed.
template <class T>
void run_claimed(task_promise<T>& p, worker& w) noexcept {
  const auto self = task_handle<T>::from_promise(p);
  auto* const by = w.watched();
  if (by != nullptr) [[unlikely]]
    tell_start(self.address(), p, own_name_of(p), *by);
  w.begin(p);
  w.resume(self);
  if (by != nullptr) [[unlikely]]
    by->returned();
}

template <class T>
void execute_spawned(sched::job* j, worker& w) noexcept {
  auto& p = static_cast<task_promise<T>&>(static_cast<start_record&>(*j));
  if (p.claim()) {
    run_claimed(p, w);
  } else {
    p.drop_owner();
  }
}

template <class T>
bool control_spawned(cell_base* cell, request what) noexcept {
  auto& p = static_cast<task_promise<T>&>(static_cast<result_cell<T>&>(*cell));
  if (what == request::stop) return stop_running(p, p);
  auto* w = worker::of_this_thread();
  if (what == request::run && home_of(p) != &w->home()) return false;  // its own pool runs it
  // relaxed: the caller holds the cell; the run gets a hold beside that of the queue
  p.state.fetch_add(state_owner, std::memory_order_relaxed);
  if (!p.claim()) {
    p.drop_owner();
    return false;
  }
  if (what == request::run) {
    run_claimed(p, *w);
  } else {
    p.set_cancelled();
    end_spawned(task_handle<T>::from_promise(p), nullptr);  // without a worker it resumes nothing here
  }
  return true;
}

/// Makes the task a started one that `parent` counts, once the caller has counted and queued it.
template <class T>
PLAIT_ALWAYS_INLINE task_promise<T>& make_spawned(task<T>& t, pool& where, sched::family& parent, void* context,
                                                  std::uint64_t parent_time) {
  auto& p = t.release().promise();
  p.as = nullptr;
  p.home = &where;
  p.kind = origin::spawn;
  static constexpr cell_functions own{
      [](cell_base* cell) noexcept { frame_of(static_cast<result_cell<T>&>(*cell)).destroy(); }, &control_spawned<T>};
  p.functions = &own;
  p.execute = &execute_spawned<T>;
  static_cast<unit&>(p) = {nullptr, &parent, context, parent_time};
  p.state.store(2 * state_owner, std::memory_order_relaxed);  // published by the queue
  return p;
}
/// The same where anybody spawns: counts it too.
template <class T>
task_promise<T>& prepare_spawn(task<T>& t, pool& where, sched::family& parent, void* context) {
  const auto* w = worker::of_this_thread();
  auto& p =
      make_spawned(t, where, parent, context, w != nullptr && w->current != nullptr ? w->time_of(*w->current) : 0);
  parent.add_child();
  return p;
}

/// A task that could not be queued.
template <class T>
void unspawn(task_promise<T>& p) noexcept {
  auto* parent = p.parent;
  task_handle<T>::from_promise(p).destroy();
  resume_joiner(parent->child_ended(true));
}

/// A task that a guest has started: the pool counts it too.
template <class T>
PLAIT_NOINLINE void count_in_host(task_promise<T>& p, pool& host) {
  try {
    start_in_host<>(p, host);
  } catch (...) {
    task_handle<T>::from_promise(p).destroy();
    throw;
  }
}

/// By a task of the same pool, which becomes the parent.
template <class T>
PLAIT_ALWAYS_INLINE future<T> spawn_inside(worker& w, task<T>& t) {
  auto& parent = *w.current;
  w.own.reserve();
  auto& children = parent.make_children();
  auto& p = make_spawned(t, w.home(), children, parent.context, w.time_of(parent));
  if (children.guest() != nullptr) [[unlikely]]
    count_in_host(p, w.home());
  children.add_own_child();
  if constexpr (PLAIT_OBS != 0) w.counters.spawned.add();
  if (auto* by = w.watched()) [[unlikely]]
    by->started(static_cast<unit*>(&p));
  w.own.push_reserved(&p);  // nothing above this line has changed anything if it has thrown
  w.home().parking().notify();
  return make_future<T>(p);
}

/// From anywhere else.
template <class T>
PLAIT_NOINLINE future<T> spawn_outside(pool& where, task<T>& t) {
  const pool::visit visit(where);
  auto& p = prepare_spawn(t, where, where.ground(), nullptr);
  try {
    where.post(&p);
  } catch (...) {
    unspawn(p);
    throw;
  }
  return make_future<T>(p);
}

}  // namespace detail

/// Starts the task in the pool and gives its future. Any thread. A task of this pool that calls it becomes the parent.
/// Throws plait::error if the pool is ending and the caller is not one of its tasks.
template <class T>
future<T> spawn_on(pool& where, task<T> t) {
  auto* w = detail::worker::of_this_thread();
  if (w != nullptr && &w->home() == &where && w->current != nullptr) [[likely]]
    return detail::spawn_inside(*w, t);
  return detail::spawn_outside(where, t);
}

template <class F, class... A>
  requires(!detail::is_task<std::remove_cvref_t<F>> && std::is_invocable_v<std::decay_t<F>, std::decay_t<A>...>)
auto spawn_on(pool& where, F&& f, A&&... args) {
  return spawn_on(
      where, detail::call_owned<std::decay_t<F>, std::decay_t<A>...>(std::forward<F>(f), std::forward<A>(args)...));
}

/// Queues the task, or a callable with decayed copies of its arguments, and goes on (help-first). A dropped future
/// detaches it. On a worker: in its pool; elsewhere: in the default pool.
template <class... A>
auto spawn(A&&... a) {
  auto* w = detail::worker::of_this_thread();
  return spawn_on(w != nullptr ? w->home() : pool::default_pool(), std::forward<A>(a)...);
}

}  // namespace plait
