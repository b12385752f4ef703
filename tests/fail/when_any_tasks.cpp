// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: when_any takes futures of tasks that have started
#include <plait/core.hpp>

#include <vector>

plait::task<int> one() { co_return 1; }

plait::task<void> root() { co_await plait::when_any(one(), one()); }

int main() {}
