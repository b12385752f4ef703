// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: parallel_sort got a temporary range, which would be gone when the task runs
#include <plait/core.hpp>

#include <vector>

std::vector<int> made();
plait::task<void> lost() { co_await plait::parallel_sort(made()); }
