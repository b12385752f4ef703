// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <cstddef>

void wake_up::with_onetbb(int workers, const std::function<void(const post&)>& use) {
  // Beside the calling thread, which does not work here.
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers) + 1);
  tbb::task_arena arena(workers, 0);
  std::atomic<bool> ran{false};
  use([&] {
    double when = 0;
    arena.enqueue([&] {
      when = bench::seconds();
      ran.store(true);
      ran.notify_one();
    });
    ran.wait(false);
    ran.store(false);
    return when;
  });
}
