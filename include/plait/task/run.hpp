// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/spawn.hpp>

#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// Counts a root task and all that comes of it, and tells one thread when all has ended. Lies on that thread's stack.
class run_scope : public sched::family {
 public:
  explicit run_scope(worker* w) noexcept : family(&all_ended), helper_(w) {}

  /// Blocks until the last of them has ended. A worker executes other jobs meanwhile.
  void wait() noexcept {
    subtree_ended();  // the place that was kept for the starting thread
    if (helper_ != nullptr) {
      helper_->home().help(*helper_, [this] { return signal_.is_set(); });
    } else {
      signal_.wait();
    }
  }

 private:
  static void all_ended(family* f) noexcept {
    auto& self = *static_cast<run_scope*>(f);
    if (self.helper_ != nullptr) {
      self.helper_->home().signal_worker(*self.helper_, self.signal_);
    } else {
      self.signal_.set();
    }
  }

  worker* helper_;
  base::thread_signal signal_;
};

}  // namespace detail

/// Runs the task in the pool and waits for it and for all that was started in it. See pool::run.
template <class T>
T run_on(pool& where, task<T> t) {
  auto* w = detail::worker::of_this_thread();
  if (w != nullptr) detail::check_help_depth(*w);
  const bool inside = w != nullptr && &w->home() == &where && w->current != nullptr;
  const pool::visit visit(inside ? nullptr : &where);
  detail::run_scope scope(w);
  void* context = inside ? w->current->context : nullptr;
  auto& p = detail::prepare_spawn(t, where, scope, context);
  try {
    where.post(&p);
  } catch (...) {
    detail::unspawn(p);
    throw;
  }
  auto f = detail::make_future<T>(p);
  scope.wait();
  return f.get();
}

/// Runs the task on the default pool, or on a worker on that worker's own pool, and waits for its result and for all
/// that was started in it; throws its exception.
template <class T>
T sync_wait(task<T> t) {
  auto* w = detail::worker::of_this_thread();
  return run_on(w != nullptr ? w->home() : pool::default_pool(), std::move(t));
}

}  // namespace plait
