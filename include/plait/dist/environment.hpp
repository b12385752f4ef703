// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#if PLAIT_WITH_MPI

#include <plait/net/mpi.hpp>

#else

#include <plait/net/thread_level.hpp>

namespace plait {
inline namespace PLAIT_DIST {

/// Keeps MPI initialised while it lives (see plait/net/mpi.hpp). Here, where there is no MPI, it does nothing.
class environment {
 public:
  environment() noexcept {}  // not trivial: a variable of it is used
  environment(int&, char**&) noexcept {}
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

  /// Any thread may do anything.
  plait::thread_level thread_level() const noexcept { return plait::thread_level::multiple; }
};

}  // namespace PLAIT_DIST
}  // namespace plait

#endif  // PLAIT_WITH_MPI
