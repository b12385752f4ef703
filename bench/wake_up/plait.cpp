// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <plait/core.hpp>

void wake_up::with_plait(int workers, const std::function<void(const post&)>& use) {
  plait::pool pool({.workers = workers});
  use([&] { return pool.spawn([] { return bench::seconds(); }).get(); });
}
