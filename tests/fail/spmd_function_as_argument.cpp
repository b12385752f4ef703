// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a function is called by its name on the other ranks: spmd<f>\(args\.\.\.\)
#include <plait/plait.hpp>

int twice(int n) { return 2 * n; }

plait::task<void> root() { co_await plait::spmd(twice, 3); }

int main() {}
