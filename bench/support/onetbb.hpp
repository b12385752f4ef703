// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <cstddef>

namespace bench {

/// Calls `solve` in an arena of so many threads, the calling one included.
template <class Solve>
double in_arena(int workers, Solve solve) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
  tbb::task_arena arena(workers);
  return arena.execute(solve);
}

}  // namespace bench
