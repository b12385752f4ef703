// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

// Pointers that belong to the running thread. A coroutine may go on in another thread after any suspension, and a
// compiler may keep the address of a thread_local variable across it. So they are read by instructions that it cannot
// move or merge, or, where those are not known, through a function that it cannot look into.

extern "C" {
/// The worker that the thread is, or null. One for the whole process, also when parts of it lie in shared libraries.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local void* plait_thread_worker = nullptr;
/// The thread's free lists of coroutine frames, or null before the first frame.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local void* plait_thread_frames = nullptr;
}

namespace plait::base {

#if defined(__x86_64__) && defined(__linux__) && defined(__LP64__)

/// The thread's worker; safe to call in a coroutine body.
PLAIT_ALWAYS_INLINE void* thread_worker() noexcept {
  void* value;
  asm volatile("movq plait_thread_worker@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value));
  return value;
}
/// The thread's frame lists; safe to call in a coroutine body.
PLAIT_ALWAYS_INLINE void* thread_frames() noexcept {
  void* value;
  asm volatile("movq plait_thread_frames@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value));
  return value;
}

#else

PLAIT_NOINLINE inline void* thread_worker() noexcept {
  asm volatile("");  // a function without effects could be called once and its result kept
  return plait_thread_worker;
}
PLAIT_NOINLINE inline void* thread_frames() noexcept {
  asm volatile("");
  return plait_thread_frames;
}

#endif

/// A value that no other living thread has. Not for coroutine bodies to keep.
PLAIT_NOINLINE inline const void* thread_identity() noexcept {
  asm volatile("");  // as above
  return &plait_thread_worker;
}

PLAIT_NOINLINE inline void set_thread_worker(void* worker) noexcept { plait_thread_worker = worker; }
PLAIT_NOINLINE inline void set_thread_frames(void* frames) noexcept { plait_thread_frames = frames; }

}  // namespace plait::base
