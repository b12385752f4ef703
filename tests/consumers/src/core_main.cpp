// SPDX-License-Identifier: BSL-1.0

// Tasks on one machine, from two translation units and a shared library: one pool for all of them.
#include <plait/core.hpp>
#include <plait/version.hpp>

#include <cstdio>

#include "core_parts.hpp"

int main() {
  const long here = plait::sync_wait(fib(15));
  const long there = plugin_fib(15);
  const bool one_pool = plugin_pool() == &plait::pool::default_pool();
  std::printf("plait %s: %ld %ld, %s\n", plait::version, here, there, one_pool ? "one pool" : "two pools");
  return here == 610 && there == 610 && one_pool ? 0 : 1;
}
