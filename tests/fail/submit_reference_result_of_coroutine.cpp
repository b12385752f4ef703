// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a submitted function can't return a reference
#include <plait/plait.hpp>

plait::task<int&> counter() {
  static int n = 0;
  co_return n;
}

plait::task<void> root() { co_await plait::submit<counter>(); }

int main() {}
