// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/runtime.hpp>
#include <plait/dist/submit.hpp>

#if PLAIT_WITH_MPI

namespace plait {
inline namespace PLAIT_DIST {

/// Native MPI inside tasks.
namespace mpi {

/// The communicator of spmd bodies, over all ranks of the runtime: one for all calls, and no plait message travels on it.
/// Throws plait::error outside of an spmd body, and where the ranks are not joined by MPI.
inline MPI_Comm comm() {
  const auto [w, run] = dist::running("mpi::comm()");
  if (!run->in_spmd) {
    throw error("plait: mpi::comm() was called outside of an spmd body: only there all ranks are in the same call; use spmd<f>()");
  }
  const auto native = run->home->owner().connection().native();
  if (native == MPI_COMM_NULL) {
    throw error("plait: mpi::comm() was called in a runtime whose ranks are not joined by MPI (one process, or PLAIT_MPI=0)");
  }
  return native;
}

}  // namespace mpi
}  // namespace PLAIT_DIST
}  // namespace plait

#endif  // PLAIT_WITH_MPI
