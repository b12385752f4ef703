// SPDX-License-Identifier: BSL-1.0
// flags: -Werror=unused-result
// expect-success

// What the other nodiscard_* files forget, remembered.
#include <plait/core.hpp>

plait::task<int> number() { co_return 1; }

plait::task<> remembers() {
  co_await number();
  plait::future<int> f = co_await plait::fork(number());
  plait::future<int> g = plait::spawn(number());
  co_await plait::when_all(f, g, number());
  co_await plait::yield();
  co_await plait::wait_children();
}
