// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

/// One party sends a number through a queue with one place, the other adds one and sends it back, n times. Those that
/// are threads have as many processors as there are workers.
namespace ping_pong {

double run_plait(int n, int workers);
double run_threads(int n, int workers);
double run_onetbb(int n, int workers);

}  // namespace ping_pong
