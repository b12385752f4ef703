// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/future.hpp>
#include <plait/task/stop.hpp>

#include <optional>
#include <type_traits>
#include <utility>

namespace plait {

namespace detail {

/// Executes a spawned task that has been claimed.
template <class T>
void run_claimed(task_promise<T>& p, worker& w) noexcept {
  w.begin(p);
  w.resume(task_handle<T>::from_promise(p));
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
  if (what == request::run && p.home != &w->home()) return false;  // its own pool runs it
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

/// Makes the task a started one that `parent` counts; the caller queues it.
template <class T>
task_promise<T>& prepare_spawn(task<T>& t, pool& where, sched::family& parent, void* context) {
  auto& p = t.release().promise();
  const auto* w = worker::of_this_thread();
  p.as = nullptr;
  p.home = &where;
  p.kind = origin::spawn;
  p.destroy = [](cell_base* cell) noexcept { frame_of(static_cast<result_cell<T>&>(*cell)).destroy(); };
  p.control = &control_spawned<T>;
  p.execute = &execute_spawned<T>;
  static_cast<unit&>(p) = {nullptr, &parent, context,
                           w != nullptr && w->current != nullptr ? w->time_of(*w->current) : 0};
  p.state.store(2 * state_owner, std::memory_order_relaxed);  // published by the queue
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

}  // namespace detail

/// Starts the task in the pool and gives its future. Any thread. A task of this pool that calls it becomes the parent.
/// Throws plait::error if the pool is ending and the caller is not one of its tasks.
template <class T>
future<T> spawn_on(pool& where, task<T> t) {
  auto* w = detail::worker::of_this_thread();
  const bool inside = w != nullptr && &w->home() == &where && w->current != nullptr;
  std::optional<pool::visit> visit;
  if (!inside) visit.emplace(where);
  auto& p = inside ? detail::prepare_spawn(t, where, w->current->make_children(), w->current->context)
                   : detail::prepare_spawn(t, where, where.ground(), nullptr);
  try {
    where.post(&p);
  } catch (...) {
    detail::unspawn(p);
    throw;
  }
  return detail::make_future<T>(p);
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
