// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: as_completed takes futures of tasks that have started
#include <plait/core.hpp>

#include <vector>

plait::task<void> root(std::vector<plait::task<int>> tasks) {
  auto ends = plait::as_completed(std::move(tasks));
  co_await plait::next(ends);
}

int main() {}
