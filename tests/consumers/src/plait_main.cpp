// SPDX-License-Identifier: BSL-1.0

// Tasks that other ranks could take, from two translation units.
#include <plait/plait.hpp>

#include <cstdio>

#include "plait_parts.hpp"

plait::task<int> study() {
  double sum = 0;
  for (int i = 0; i < 10; ++i) {
    plait::future<double> half = plait::submit<halved>(static_cast<double>(i));
    sum += co_await half;
  }
  sum += co_await quarters(8);
  std::printf("sum = %g\n", sum);
  co_return sum == 29.5 ? 0 : 1;
}

int main(int argc, char** argv) { return plait::launch<study>(argc, argv); }
