// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a submitted function can't take its arguments by non-const reference
#include <plait/plait.hpp>

void increment(int& n) { ++n; }

plait::task<void> root(int n) { co_await plait::submit<increment>(n); }

int main() {}
