// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a task that was made here cannot leave.*submit<f>\(args\.\.\.\)
#include <plait/plait.hpp>

plait::task<int> twice(int n) { co_return 2 * n; }

plait::task<void> root() { co_await plait::submit(twice(3)); }

int main() {}
