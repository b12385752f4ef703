// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: when_any leaves its futures to you, so it takes them by name
#include <plait/core.hpp>

plait::task<std::size_t> waits(plait::future<int>& f) {
  co_return co_await plait::when_any(f, plait::spawn([] { return 1; }));
}
