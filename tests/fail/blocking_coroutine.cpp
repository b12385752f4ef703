// SPDX-License-Identifier: BSL-1.0
// expect-error: blocking is for plain functions; a coroutine gives its thread back by itself
#include <plait/core.hpp>

plait::task<int> number() { co_return 1; }

plait::task<int> waits() { co_return co_await plait::blocking(number); }
