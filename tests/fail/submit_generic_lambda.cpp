// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: .*generic lambda
#include <plait/plait.hpp>

plait::task<void> root() {
  co_await plait::submit([](auto n) { return n; }, 3);
}

int main() {}
