// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "checker.hpp"

static_assert(std::is_same_v<plait::base::atomic<int>, interleaving::atomic<int>>,
              "the folder tests/interleavings must come before include/ in the search for headers");

/// No fault in any order within the limits.
inline void expect_none_in_all(const interleaving::result& r) {
  CHECK(r.fault == "");
  CHECK(r.complete);
  MESSAGE(r.executions, " orders, which are all");
}
/// No fault in the orders that were tried.
inline void expect_none(const interleaving::result& r) {
  CHECK(r.fault == "");
  MESSAGE(r.executions, " orders");
}

/// The fault that was put in was executed, and has shown.
inline void expect_fault(const interleaving::result& r) {
  CHECK(r.mutated > 0);
  CHECK(r.fault != "");
  MESSAGE("after ", r.executions, " orders: ", r.fault);
}

#ifdef INTERLEAVING_ASAN
/// A fault leaves threads as they are; and fibers with stacks of their own for this check are slow.
extern "C" inline const char* __asan_default_options() { return "detect_leaks=0:detect_stack_use_after_return=0"; }
#endif
