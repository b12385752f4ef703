// SPDX-License-Identifier: BSL-1.0
#pragma once

// The only header that defines macros (beside version.hpp): what the compiler is, and what the build asked for.

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "plait needs C++20: add -std=c++20"
#endif

#if !defined(__cpp_impl_coroutine)
#error "plait needs coroutines: use g++ 12 or later, or clang 17 or later, with -std=c++20"
#endif

#if !defined(__GXX_RTTI) && !defined(__cpp_rtti)
#error "plait needs RTTI: it names tasks and registers callables by their types; remove -fno-rtti"
#endif

#if !defined(__cpp_exceptions)
#error "plait needs exceptions: they are how tasks fail and how waits are cancelled; remove -fno-exceptions"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define PLAIT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PLAIT_ASAN 1
#endif
#endif
#ifndef PLAIT_ASAN
#define PLAIT_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define PLAIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLAIT_TSAN 1
#endif
#endif
#ifndef PLAIT_TSAN
#define PLAIT_TSAN 0
#endif

/// 0: without statistics of tasks and times; counters of what workers take from others stay. They cost next to nothing
/// while nobody asks for them.
#ifndef PLAIT_OBS
#define PLAIT_OBS 1
#endif

/// 1: ranks are joined by MPI. 0: one rank, no <mpi.h>. Defaults to whether the header can be found.
#ifndef PLAIT_WITH_MPI
#if __has_include(<mpi.h>)
#define PLAIT_WITH_MPI 1
#else
#define PLAIT_WITH_MPI 0
#endif
#endif

/// 1: the compiler transfers from one coroutine to another in constant stack in every mode. g++ does so only when it
/// optimises and not under AddressSanitizer, and no macro tells, so there the depth of the stack is looked at.
#if defined(__clang__)
#define PLAIT_TAIL_TRANSFER 1
#else
#define PLAIT_TAIL_TRANSFER 0
#endif

/// The distributed layer lies in an inline namespace of this name, so that units built with and without MPI fail to
/// link instead of sharing functions that differ.
#if PLAIT_WITH_MPI
#define PLAIT_DIST with_mpi
#else
#define PLAIT_DIST without_mpi
#endif

/// 1: the code may become part of a shared library.
#if defined(__PIC__) && !defined(__PIE__)
#define PLAIT_SHARED_CODE 1
#else
#define PLAIT_SHARED_CODE 0
#endif

#define PLAIT_NOINLINE __attribute__((noinline))
#define PLAIT_ALWAYS_INLINE __attribute__((always_inline)) inline
/// One object for the whole process, also when parts of it lie in shared libraries.
#define PLAIT_EXPORT __attribute__((visibility("default")))

/// 1: functions that are no templates are not compiled in each source file that uses them, but in one file of the
/// program, which holds two lines: #define PLAIT_IMPLEMENTATION and #include <plait/plait.hpp> (or core.hpp). They may
/// still be inlined. With g++ only; elsewhere each file has what it uses, as with 0.
#ifndef PLAIT_SEPARATE
#define PLAIT_SEPARATE 0
#endif

/// Stands in every header before its first namespace. See "C++ Interface and Implementation Pragmas" in GCC's manual.
#if PLAIT_SEPARATE && !defined(__clang__)
#define PLAIT_INTERFACE _Pragma("interface \"plait\"")
#if defined(PLAIT_IMPLEMENTATION)
#pragma implementation "plait"
#endif
#else
#define PLAIT_INTERFACE
#endif
