// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstdint>

PLAIT_INTERFACE

namespace plait::base {

/// What stands in for the clock, the threads and the sleep of the system where many threads are simulated in one
/// (event_loop.hpp). Times are nanoseconds. What asks the system for one of these asks here first.
class simulator {
 public:
  /// The virtual time.
  virtual std::int64_t now() const noexcept = 0;
  /// The simulated thread goes on when so much virtual time has passed.
  virtual void nap(std::int64_t nanoseconds) noexcept = 0;
  /// Others go first. Takes some virtual time, so that who waits for another one in a loop gets there.
  virtual void give_way() noexcept = 0;
  /// Sleeps until wake(word), or for so long; the largest number: without limit. Nobody else runs between the caller's
  /// look at the word and this.
  virtual void wait(const void* word, std::int64_t at_most) noexcept = 0;
  virtual void wake(const void* word, int how_many) noexcept = 0;
  /// Starts another simulated thread, and waits for its end. join once for each.
  virtual void* start(void (*body)(void*), void* argument) = 0;
  virtual void join(void* thread) noexcept = 0;
  /// Where the stack of the running simulated thread ends.
  virtual char* stack_floor() const noexcept = 0;
  /// A value that no other living simulated thread has.
  virtual const void* identity() const noexcept = 0;
  /// Another number for each call, of a sequence that the seed determines.
  virtual std::uint64_t random() noexcept = 0;

 protected:
  ~simulator() = default;
};

}  // namespace plait::base

extern "C" {
/// The simulator that the calling thread runs in, or null. One for the whole process, as plait_thread_worker.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local plait::base::simulator* plait_thread_simulator = nullptr;
}

namespace plait::base {

/// The simulator that the calling thread runs in, or null where it is a thread of the system. Safe to call in a
/// coroutine body.
PLAIT_NOINLINE inline simulator* this_simulator() noexcept {
  asm volatile("");  // what it gives differs between threads
  return plait_thread_simulator;
}

/// Another seed for each number, so that not all ranks do the same, and where they are simulated for each simulation.
inline std::uint64_t seed_of(unsigned number) noexcept {
  auto* s = this_simulator();
  return number + (s == nullptr ? 0 : s->random() << 32);
}

}  // namespace plait::base
