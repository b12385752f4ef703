// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/text.hpp>

#include <cstdint>
#include <string_view>

PLAIT_INTERFACE

namespace plait::obs {

/// What a task is called: something that stands for the name, and how to find that out, or, where that is null, the
/// name itself.
struct task_name {
  const void* key;
  base::text (*find_out)(const void* key);
  std::string_view own;
};

/// Who wants to know what a worker does. Called by that worker.
class watcher {
 public:
  watcher() noexcept {}
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  virtual ~watcher() {}

  /// A spawned or submitted task has ended, so long after it began, waits included.
  virtual void task_ended(const task_name& name, std::uint64_t nanoseconds) noexcept = 0;
};

}  // namespace plait::obs
