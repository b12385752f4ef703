// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/core.hpp>

plait::task<long> fib(int n);  // core_fib.cpp, another unit of the program

#define PLUGIN_EXPORT [[gnu::visibility("default")]]
PLUGIN_EXPORT long plugin_fib(int n);            // core_plugin.cpp, a shared library
PLUGIN_EXPORT const plait::pool* plugin_pool();  // the default pool as the shared library sees it
