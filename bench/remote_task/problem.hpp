// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/plait.hpp>

#include <chrono>
#include <vector>

/// A round trip between rank 0 and rank 1. Every function is collective, and gives microseconds, one sample a round
/// trip, on rank 0 (elsewhere nothing). A wrong answer from rank 1 is a std::runtime_error.
namespace remote_task {

using samples = std::vector<double>;

/// 8 bytes there and 8 bytes back by MPI_Send and MPI_Recv on MPI_COMM_WORLD.
samples run_raw_mpi(int count);

/// A task that does nothing, from submit until its result is there.
samples run_plait(plait::runtime& rt, int count);

/// The same, each after both ranks were idle for `pause`.
samples run_plait_after_idleness(plait::runtime& rt, int count, std::chrono::milliseconds pause);

}  // namespace remote_task
