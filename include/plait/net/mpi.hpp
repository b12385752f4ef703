// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#if PLAIT_WITH_MPI

// The only header that includes <mpi.h>. MPI's old C++ bindings, which some installations still pull in by it, would
// cost compile time and a library to link.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <plait/base/clock.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/late_notice.hpp>
#include <plait/base/pause.hpp>
#include <plait/net/thread_level.hpp>

#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

PLAIT_INTERFACE

namespace plait {

/// A call of MPI failed. what() has the call, MPI's text and its code.
class PLAIT_EXPORT mpi_error : public error {
 public:
  /// code: what the call returned; call: its name. Asks MPI for class and text.
  mpi_error(int code, std::string call) : mpi_error(code, class_of(code), text_of(code), std::move(call)) {}

  /// From its parts, as they come from another rank.
  mpi_error(int code, int error_class, std::string text, std::string call)
      : error(base::compose({"plait: ", call, " failed: ", text, " (code ", code, ", class ", error_class, ")"})),
        code_(code),
        class_(error_class),
        text_(std::move(text)),
        call_(std::move(call)) {}

  /// What the call returned; has a meaning only for the MPI library that made it.
  int code() const noexcept { return code_; }
  /// The error class, such as MPI_ERR_COMM.
  int error_class() const noexcept { return class_; }
  /// MPI's description.
  const std::string& text() const noexcept { return text_; }
  /// The call, such as "MPI_Isend".
  const std::string& call() const noexcept { return call_; }

 private:
  static int class_of(int code) {
    int result = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &result);
    return result;
  }
  static std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "unknown error";
    return {text, static_cast<std::size_t>(length)};
  }

  int code_;
  int class_;
  std::string text_;
  std::string call_;
};

namespace net {

/// Throws mpi_error unless `code` is MPI_SUCCESS. call: the name of the MPI function that returned it.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw mpi_error(code, call);
}

/// Whether MPI can be called now: initialised, and not yet finalised. Never throws; legal at any time.
inline bool mpi_is_alive() noexcept {
  int initialised = 0;
  int finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised != 0 && finalised == 0;
}

/// What MPI granted to this process. MPI must be initialised.
inline thread_level current_thread_level() {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  if (provided >= MPI_THREAD_MULTIPLE) return thread_level::multiple;
  if (provided >= MPI_THREAD_SERIALIZED) return thread_level::serialized;
  return provided >= MPI_THREAD_FUNNELED ? thread_level::funneled : thread_level::single;
}

/// Whether the calling thread is the one that initialised MPI. MPI must be initialised.
inline bool is_mpi_thread() {
  int result = 0;
  check(MPI_Is_thread_main(&result), "MPI_Is_thread_main");
  return result != 0;
}

/// Waits for a request, leaving the core to others between looks: blocking collectives of ranks that outnumber the
/// cores may spin for milliseconds. Returns whether it ended within `at_most`; if not, the request is still active.
inline bool finish(MPI_Request& request, const char* call,
                   std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max()) {
  const auto start = std::chrono::steady_clock::now();
  for (int looks = 0;; ++looks) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
    if (done != 0) return true;
    if (std::chrono::steady_clock::now() - start >= at_most) return false;
    if (looks < 2000)
      base::give_way();
    else
      base::nap(std::chrono::microseconds(50));
  }
}

/// A duplicate of a communicator that is ours: it has a name, returns its errors, and is freed at the end, unless MPI
/// has been finalised by then.
class communicator {
 public:
  /// Empty.
  communicator() = default;
  communicator(communicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~communicator() {
    if (comm_ != MPI_COMM_NULL && mpi_is_alive()) MPI_Comm_free(&comm_);
  }

  /// Collective over `comm`, which must be an intracommunicator. name: what debuggers and tools show. Waits for all its
  /// ranks however long that takes, but says after `patience` that no runtime is made where it is expected.
  static communicator duplicate(MPI_Comm comm, const char* name,
                                std::chrono::nanoseconds patience = std::chrono::nanoseconds::max()) {
    if (!mpi_is_alive()) throw error("plait: MPI is not initialised, or already finalised; keep a plait::environment");
    if (comm == MPI_COMM_NULL) throw error("plait: this rank has no part in the communicator: it is MPI_COMM_NULL");
    int inter = 0;
    check(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
    if (inter != 0) throw error("plait: an intercommunicator cannot be used; merge it by MPI_Intercomm_merge");
    communicator result;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(comm, &result.comm_, &request), "MPI_Comm_idup");
    if (!finish(request, "MPI_Comm_idup", patience)) {
      std::fprintf(
          stderr,
          "plait: rank %d waits for other ranks of its communicator, who make no runtime: all must, and a task "
          "is on one rank only\n",
          rank_in(comm));
      finish(request, "MPI_Comm_idup");
    }
    check(MPI_Comm_set_errhandler(result.comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_set_name(result.comm_, name), "MPI_Comm_set_name");
    return result;
  }

  /// The handle; MPI_COMM_NULL if empty.
  MPI_Comm get() const noexcept { return comm_; }
  /// This process's rank in it.
  int rank() const { return rank_in(comm_); }
  /// The number of ranks in it.
  int size() const {
    int result = 0;
    check(MPI_Comm_size(comm_, &result), "MPI_Comm_size");
    return result;
  }
  /// Gives the handle up without freeing it, for when a collective on it was left unfinished.
  MPI_Comm release() noexcept { return std::exchange(comm_, MPI_COMM_NULL); }

 private:
  static int rank_in(MPI_Comm comm) {
    int result = 0;
    check(MPI_Comm_rank(comm, &result), "MPI_Comm_rank");
    return result;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Keeps MPI initialised while it lives. The first one initialises MPI, asking for MULTIPLE, unless somebody else has;
/// the last one finalises it if and only if the first one initialised it.
class mpi_session {
 public:
  /// With main's arguments, from which MPI may take its own, or without. Throws plait::error if MPI was finalised
  /// before. MPI waits for all ranks of the job; if that takes longer than `patience`, a line on stderr says so.
  explicit mpi_session(int* argc = nullptr, char*** argv = nullptr,
                       std::chrono::nanoseconds patience = std::chrono::seconds(30)) {
    shared_state& state = shared();
    const std::scoped_lock lock(state.mutex);
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised != 0)
      throw error(
          "plait: MPI has been finalised and cannot be initialised again; "
          "keep a plait::environment in main for as long as runtimes are made");
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised == 0) {
      const base::late_notice late(
          "plait: MPI_Init_thread waits for other ranks of the job: all must initialise MPI (is PLAIT_MPI=0 set for "
          "some "
          "of them only?)\n",
          patience);
      int provided = MPI_THREAD_SINGLE;
      check(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
      state.ours = true;
    }
    ++state.users;
  }
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;
  ~mpi_session() {
    shared_state& state = shared();
    const std::scoped_lock lock(state.mutex);
    if (--state.users == 0 && std::exchange(state.ours, false) && mpi_is_alive()) MPI_Finalize();
  }

 private:
  struct shared_state {
    std::mutex mutex;
    int users = 0;
    bool ours = false;
  };
  PLAIT_EXPORT static shared_state& shared() {
    static shared_state state;
    return state;
  }
};

}  // namespace net
}  // namespace plait

#endif  // PLAIT_WITH_MPI
