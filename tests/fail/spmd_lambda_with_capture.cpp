// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: spmd takes lambdas without captures
#include <plait/plait.hpp>

plait::task<void> root(int k) {
  co_await plait::spmd([k] { return k; });
}

int main() {}
