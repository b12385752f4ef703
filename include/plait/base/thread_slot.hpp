// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/simulator.hpp>

// Pointers that belong to the running thread. A coroutine may go on in another thread after any suspension, and a
// compiler may keep the address of a thread_local variable across it. So they are read by instructions that it cannot
// move or merge, or, where those are not known, through a function that it cannot look into.

PLAIT_INTERFACE

extern "C" {
/// The worker that the thread is, or null. One for the whole process, also when parts of it lie in shared libraries.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local void* plait_thread_worker = nullptr;
#if !PLAIT_TAIL_TRANSFER
/// Where coroutines must not be resumed on top of this thread's stack any more; null: anywhere.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local char* plait_thread_floor = nullptr;
#endif
}

namespace plait::base {

#if defined(__x86_64__) && defined(__linux__) && defined(__LP64__)

/// The thread's worker; safe to call in a coroutine body.
PLAIT_ALWAYS_INLINE void* thread_worker() noexcept {
  void* value;
  asm volatile("movq plait_thread_worker@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value));
  return value;
}
#if !PLAIT_TAIL_TRANSFER
/// Whether the stack has grown below the place up to which this thread resumes coroutines on top of it; safe to call
/// in a coroutine body. Unlike __builtin_frame_address it costs the calling function no register.
PLAIT_ALWAYS_INLINE bool is_below_thread_floor() noexcept {
  bool below;
  void* offset;
  asm volatile("movq plait_thread_floor@gottpoff(%%rip), %1\n\tcmpq %%fs:(%1), %%rsp" : "=@ccb"(below), "=&r"(offset));
  return below;
}
#endif

#else

PLAIT_NOINLINE inline void* thread_worker() noexcept {
  asm volatile("");  // a function without effects could be called once and its result kept
  return plait_thread_worker;
}
#if !PLAIT_TAIL_TRANSFER
PLAIT_NOINLINE inline bool is_below_thread_floor() noexcept {
  asm volatile("");
  return static_cast<char*>(__builtin_frame_address(0)) < plait_thread_floor;
}
#endif

#endif

/// A value that no other living thread has. Not for coroutine bodies to keep.
PLAIT_NOINLINE inline const void* thread_identity() noexcept {
  asm volatile("");  // as above
  if (plait_thread_simulator != nullptr) return plait_thread_simulator->identity();
  return &plait_thread_worker;
}

PLAIT_NOINLINE inline void set_thread_worker(void* worker) noexcept { plait_thread_worker = worker; }
/// Sets the place that is_below_thread_floor looks at, and gives what it was. Does nothing where coroutines are resumed
/// in constant stack.
PLAIT_NOINLINE inline char* exchange_thread_floor([[maybe_unused]] char* floor) noexcept {
#if PLAIT_TAIL_TRANSFER
  return nullptr;
#else
  auto* const before = plait_thread_floor;
  plait_thread_floor = floor;
  return before;
#endif
}

}  // namespace plait::base
