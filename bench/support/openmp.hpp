// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>

namespace bench {

/// Calls `solve` on one thread of a team of so many; the others execute its tasks.
template <class Solve>
double in_team(int workers, Solve solve) {
  double elapsed = 0;
  std::exception_ptr failure;
#pragma omp parallel num_threads(workers) default(none) shared(elapsed, failure, solve)
#pragma omp single
  {
    try {
      elapsed = solve();
    } catch (...) {
      failure = std::current_exception();  // none may leave the region
    }
  }
  if (failure) std::rethrow_exception(failure);
  return elapsed;
}

}  // namespace bench
