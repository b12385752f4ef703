// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/simulator.hpp>

#include <sched.h>

PLAIT_INTERFACE

namespace plait::base {

/// Tells the processor that a loop is waiting for another one.
PLAIT_ALWAYS_INLINE void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lets another thread have the processor, if one wants it.
inline void give_way() noexcept {
  if (auto* s = this_simulator()) return s->give_way();
  ::sched_yield();
}

/// One wait after another in a loop that ends when another thread has done a few instructions: pauses, and gives way
/// now and then, since that thread may not be running.
class backoff {
 public:
  void wait() noexcept {
    if (++turns_ % 16 == 0) {
      give_way();
    } else {
      pause();
    }
  }

 private:
  unsigned turns_ = 0;
};

}  // namespace plait::base
