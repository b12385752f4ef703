// SPDX-License-Identifier: BSL-1.0
#include "plait_parts.hpp"

double halved(double x) { return x / 2; }

plait::task<double> quarters(int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    plait::future<double> half = plait::submit<halved>(i / 2.0);
    sum += co_await half;
  }
  co_return sum;
}
