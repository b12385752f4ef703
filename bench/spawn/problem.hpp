// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

/// n independent tasks that do nothing, queued by one task, which then waits for all.
namespace spawn {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_onetbb_enqueue(int n, int workers);
double run_openmp(int n, int workers);

/// What each task calls, so that it can be checked that all have run: adds one to a counter of the thread.
void count();
/// The sum of the counters, which it resets. No task may run.
long counted();

/// Times `start_and_wait(n)` after a few tasks for which no time is taken.
template <class StartAndWait>
double timed(int n, StartAndWait&& start_and_wait) {
  start_and_wait(1000);
  counted();
  return bench::timed(static_cast<long>(n), [&] {
    start_and_wait(n);
    return counted();
  });
}

}  // namespace spawn
