// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

/// Work for many simulated ranks, as much as an idle-free machine does in the seconds that are asked for.
namespace scale {

enum class problem { bag, uts1, uts3 };

/// What is simulated.
struct machine {
  problem what;
  int ranks;
  int workers;          ///< of each rank
  double seconds;       ///< of work for each worker
  double task_seconds;  ///< mean of the bag's tasks
  double latency;       ///< of a message, in seconds
  double bandwidth;     ///< bytes a second
  double wake;          ///< until a sleeping thread that was woken goes on, in seconds
  std::uint64_t seed;
};

/// What came out; times in virtual seconds.
struct outcome {
  bool right;  ///< every task was executed once
  long tasks;
  double efficiency;   ///< work / (time of the run x workers)
  double distributed;  ///< from the start until every rank has begun a task
  double ended;        ///< from the end of the last task until the last rank has left
  double frames_a_task;
  double idle_frames;   ///< a rank and second, of a job where one task runs for a second
  double rank_kib;      ///< memory a rank, stacks of its simulated threads included
  double real_seconds;  ///< that the simulation took
};

outcome simulate(const machine& m);

}  // namespace scale
