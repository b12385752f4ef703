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

/// Who wants to know what a worker does. Called by that worker; a unit is known by its address.
class watcher {
 public:
  watcher() noexcept {}
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;
  virtual ~watcher() {}

  /// A spawned or submitted task begins. flow: what it was called where it left another rank, or 0.
  virtual void task_began(const void* unit, const task_name& name, std::uint64_t flow) noexcept = 0;
  /// It has ended, so long after it began, waits included.
  virtual void task_ended(const void* unit, const task_name& name, std::uint64_t nanoseconds) noexcept = 0;
  /// The worker goes over to a job; null: of no unit that has run before.
  virtual void went_on(const void* unit) noexcept = 0;
  /// The one that ran gives way to another.
  virtual void switched(const void* unit) noexcept = 0;
  /// What it runs, or has just ended, makes another go on, later.
  virtual void woke(const void* unit) noexcept = 0;
  /// The result of a task that has left is there; what goes on next waits for it.
  virtual void arrived(std::uint64_t flow) noexcept = 0;
  /// It is back from what has begun or gone on last.
  virtual void returned() noexcept = 0;
  /// Its task has spawned or submitted another.
  virtual void started(const void* unit) noexcept = 0;
  /// A submitted task has left for another rank.
  virtual void left(const void* unit, std::uint64_t flow) noexcept = 0;
  /// It has taken a job from another worker.
  virtual void stole() noexcept = 0;
  /// So many jobs lie in its deques. Now and then.
  virtual void sampled(std::uint64_t jobs) noexcept = 0;
  /// Its task comes to the beginning, or the end, of a part that has a name.
  virtual void region(std::string_view name, std::uint64_t id, bool begins) noexcept = 0;
};

}  // namespace plait::obs
