// SPDX-License-Identifier: BSL-1.0
#include "core_parts.hpp"
#include "own_fib.hpp"

long plugin_fib(int n) { return plait::sync_wait(own_fib(n)); }

const plait::pool* plugin_pool() { return &plait::pool::default_pool(); }
