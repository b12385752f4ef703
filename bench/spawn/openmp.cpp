// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

double spawn::run_openmp(int n, int workers) {
  return bench::in_team(workers, [n] {
    return timed(n, [](int tasks) {
      for (int i = 0; i < tasks; ++i) {
#pragma omp task default(none)
        count();
      }
#pragma omp taskwait
    });
  });
}
