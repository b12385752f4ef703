// SPDX-License-Identifier: BSL-1.0
// expect-error: map gives floating point numbers: write 0\.0 in place of 0
#include <plait/core.hpp>

plait::task<int> halves() {
  co_return co_await plait::parallel_reduce(
      0, 10, 0, [](int i) { return i / 2.0; }, [](auto a, auto b) { return a + b; });
}
