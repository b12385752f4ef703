// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/plait.hpp>

double halved(double x);
plait::task<double> quarters(int count);  // 0/4 + 1/4 + ...
