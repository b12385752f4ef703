// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sched.h>

#include <stdexcept>

namespace bench {

/// Keeps the calling thread, and those that it starts from now on, to the first so many of the processors that it may
/// use.
inline void keep_to_processors(int count) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) throw std::runtime_error("the usable processors are unknown");
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int i = 0; i < CPU_SETSIZE && count > 0; ++i) {
    if (!CPU_ISSET(i, &usable)) continue;
    CPU_SET(i, &chosen);
    --count;
  }
  if (sched_setaffinity(0, sizeof chosen, &chosen) != 0) throw std::runtime_error("the processors can't be chosen");
}

}  // namespace bench
