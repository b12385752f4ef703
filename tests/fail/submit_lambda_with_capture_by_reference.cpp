// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: submit takes lambdas without captures
#include <plait/plait.hpp>

plait::task<void> root(int k) {
  co_await plait::submit(plait::on_rank(0), [&k] { ++k; });
}

int main() {}
