// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: submit takes lambdas without captures
#include <plait/plait.hpp>

plait::task<void> root(int k) {
  co_await plait::submit([k](int n) { return n * k; }, 3);
}

int main() {}
