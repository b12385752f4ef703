// SPDX-License-Identifier: BSL-1.0
// expect-error: after std::allocator_arg a coroutine takes an allocator or a pointer to a memory resource
#include <plait/core.hpp>

plait::task<int> number(std::allocator_arg_t, int n) { co_return n; }
