// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a function is submitted by its name.*submit<f>\(args\.\.\.\)
#include <plait/plait.hpp>

int twice(int n) { return 2 * n; }

plait::task<void> root() { co_await plait::submit(twice, 3); }

int main() {}
