// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/pause.hpp>
#include <plait/base/thread.hpp>
#include <plait/dist/options.hpp>
#include <plait/net/mpi.hpp>
#include <plait/net/thread_level.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {
/// Whether a program that knows MPI is to use it: PLAIT_MPI=0 asks for one process without.
inline bool mpi_is_wanted() { return switch_from_environment("PLAIT_MPI", true); }

/// How long one waits for other ranks before one says so, where options are not known yet; a value that can't be used
/// is an error later.
inline std::chrono::nanoseconds patience_at_start() {
  try {
    return base::nanoseconds_of(stall_warn_of(options{}));
  } catch (const error&) {
    return std::chrono::seconds(30);
  }
}

#if PLAIT_WITH_MPI
/// Ends this process, and by that the job, unless it goes within a time. Its thread makes no call of MPI.
class time_to_finalise {
 public:
  explicit time_to_finalise(std::chrono::nanoseconds limit)
      : thread_([this, limit] {
          for (const auto start = base::now(); base::now() - start < limit; base::nap(std::chrono::milliseconds(5))) {
            if (over_.load(std::memory_order_relaxed)) return;  // guards nothing
          }
          std::fputs(
              "plait: an exception leaves the scope of an environment on this rank, and other ranks do not end MPI: "
              "they would wait for ever, so the job is aborted; let all ranks throw, or none\n",
              stderr);
          std::_Exit(1);
        }) {}
  ~time_to_finalise() { over_.store(true, std::memory_order_relaxed); }  // as above

 private:
  base::atomic<bool> over_{false};
  base::thread thread_;
};
#endif
}  // namespace dist

/// Keeps MPI initialised while it lives. The first one initialises MPI, asking for MULTIPLE, unless somebody else has;
/// the last one finalises it if and only if the first one initialised it. MPI cannot be initialised again after that,
/// so a program that makes several runtimes one after another keeps one of these in main. To be made and destroyed by
/// the main thread, and never at namespace scope: MPI must not be called by static destructors. Does nothing where
/// there is no MPI, or PLAIT_MPI=0 in the environment says that none is wanted. Where an exception destroys the last
/// one and the other ranks do not finalise MPI within 2 s, it prints why and ends the job.
class environment {
 public:
  /// Throws plait::error if MPI was finalised before.
  environment() : environment(nullptr, nullptr) {}
  /// The same, with main's arguments, from which MPI may take its own.
  environment(int& argc, char**& argv) : environment(&argc, &argv) {}
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

#if PLAIT_WITH_MPI
  ~environment() {
    if (!mpi_ || std::uncaught_exceptions() <= exceptions_before_) return;
    std::optional<dist::time_to_finalise> limit;
    try {
      limit.emplace(std::chrono::seconds(2));
    } catch (...) {  // no thread for it: it waits without a limit
    }
    mpi_.reset();
  }
#endif

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
    mpi_.emplace(argc, argv, dist::patience_at_start());
  }
  std::optional<net::mpi_session> mpi_;
  int exceptions_before_ = std::uncaught_exceptions();
#else
  environment(int*, char***) noexcept {}
#endif
};

}  // namespace PLAIT_DIST
}  // namespace plait
