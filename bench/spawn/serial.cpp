// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

double spawn::run_serial(int n, int) {
  return timed(n, [](int tasks) {
    for (int i = 0; i < tasks; ++i) count();
  });
}
