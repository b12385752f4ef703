// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/sched/pool.hpp>

PLAIT_INTERFACE

namespace plait::this_worker {

/// The number of the worker that the calling thread is, from 0 to its pool's size - 1. A task may have another one
/// after each suspension. Throws plait::error in a thread that is no worker.
inline unsigned id() {
  const auto* w = sched::worker::of_this_thread();
  if (w == nullptr) throw error("plait: this_worker::id() was called in a thread that is no worker of a pool");
  return w->index();
}

}  // namespace plait::this_worker
