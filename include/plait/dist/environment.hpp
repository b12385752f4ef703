// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/options.hpp>
#include <plait/net/mpi.hpp>
#include <plait/net/thread_level.hpp>

#include <optional>

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {
/// Whether a program that knows MPI is to use it: PLAIT_MPI=0 asks for one process without.
inline bool mpi_is_wanted() { return switch_from_environment("PLAIT_MPI", true); }
}  // namespace dist

/// Keeps MPI initialised while it lives. The first one initialises MPI, asking for MULTIPLE, unless somebody else has;
/// the last one finalises it if and only if the first one initialised it. MPI cannot be initialised again after that,
/// so a program that makes several runtimes one after another keeps one of these in main. To be made and destroyed by
/// the main thread, and never at namespace scope: MPI must not be called by static destructors. Does nothing where
/// there is no MPI, or PLAIT_MPI=0 in the environment says that none is wanted.
class environment {
 public:
  /// Throws plait::error if MPI was finalised before.
  environment() : environment(nullptr, nullptr) {}
  /// The same, with main's arguments, from which MPI may take its own.
  environment(int& argc, char**& argv) : environment(&argc, &argv) {}
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

  /// What MPI granted. Without it any thread may do anything.
  plait::thread_level thread_level() const {
#if PLAIT_WITH_MPI
    if (mpi_) return net::current_thread_level();
#endif
    return plait::thread_level::multiple;
  }

 private:
#if PLAIT_WITH_MPI
  environment(int* argc, char*** argv) {
    try {
      if (!dist::mpi_is_wanted()) return;
    } catch (const error&) {  // the other ranks, who may have another environment, initialise MPI: runtimes will tell
    }
    mpi_.emplace(argc, argv);
  }
  std::optional<net::mpi_session> mpi_;
#else
  environment(int*, char***) noexcept {}
#endif
};

}  // namespace PLAIT_DIST
}  // namespace plait
