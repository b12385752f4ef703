// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

PLAIT_INTERFACE

namespace plait::base {

/// Registers the process for `heavy_barrier`. Returns whether the kernel has it (Linux 4.14, membarrier(2)).
inline bool register_heavy_barrier() noexcept {
#if defined(__linux__)
  static const bool registered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return registered;
#else
  return false;
#endif
}

/// A full memory barrier on every running thread of the process, about 1 µs: the expensive half of an asymmetric pair
/// whose cheap half is nothing at all. Needs `register_heavy_barrier` to have returned true.
inline void heavy_barrier() noexcept {
#if defined(__linux__)
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

}  // namespace plait::base
