// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: when_any leaves its futures to you, so it takes a range of them by name
#include <plait/core.hpp>

#include <vector>

std::vector<plait::future<int>> futures();

plait::task<std::size_t> waits() { co_return co_await plait::when_any(futures()); }
