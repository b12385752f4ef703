// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/plait.hpp>

/// Small tasks (or messages) from rank 0 to rank 1. Every function is collective, and gives seconds on rank 0 for
/// `count` of them, `window` at a time (elsewhere 0). Wrong results are a std::runtime_error.
namespace task_rate {

/// 8-byte messages by MPI_Isend and MPI_Irecv on MPI_COMM_WORLD; one answer when all have arrived.
double run_raw_mpi(int count, int window);

/// Tasks with an int as argument and as result; all results are awaited.
double run_plait(plait::runtime& rt, int count, int window);

}  // namespace task_rate
