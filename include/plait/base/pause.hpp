// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

namespace plait::base {

/// Tells the processor that a loop is waiting for another one.
PLAIT_ALWAYS_INLINE void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace plait::base
