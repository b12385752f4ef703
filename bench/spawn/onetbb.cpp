// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

double spawn::run_onetbb(int n, int workers) {
  return bench::in_arena(workers, [n] {
    return timed(n, [](int tasks) {
      tbb::task_group group;
      for (int i = 0; i < tasks; ++i) group.run([] { count(); });
      group.wait();
    });
  });
}

double spawn::run_onetbb_enqueue(int n, int workers) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
  tbb::task_arena arena(workers);
  return timed(n, [&](int tasks) {
    tbb::task_group group;
    for (int i = 0; i < tasks; ++i) arena.enqueue(group.defer([] { count(); }));
    arena.execute([&] { group.wait(); });
  });
}
