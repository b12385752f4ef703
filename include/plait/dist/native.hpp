// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/runtime.hpp>
#include <plait/dist/submit.hpp>

#if PLAIT_WITH_MPI

#include <coroutine>
#include <cstddef>
#include <utility>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {

/// Native MPI inside tasks.
namespace mpi {

/// The communicator of spmd bodies, over all ranks of the runtime: one for all calls, and no plait message travels on
/// it. Throws plait::error outside of an spmd body, and where the ranks are not joined by MPI.
inline MPI_Comm comm() {
  const auto [w, run] = dist::running("mpi::comm()");
  if (!run->in_spmd) {
    throw error(
        "plait: mpi::comm() was called outside of an spmd body: only there all ranks are in the same call; use "
        "spmd<f>()");
  }
  const auto native = run->home->owner().connection().native();
  if (native == MPI_COMM_NULL) {
    throw error(
        "plait: mpi::comm() was called in a runtime whose ranks are not joined by MPI (one process, or PLAIT_MPI=0)");
  }
  return native;
}

/// Waits for requests while the worker runs other tasks. `Start` makes the requests, on a thread that may call MPI; it
/// is the first thing that happens after the task has suspended.
template <class Start>
class [[nodiscard("nothing is started or awaited before co_await")]] request_awaiter : dist::pollable {
 public:
  using resumes_in_pool = void;
  request_awaiter(const char* call, Start start) : call_(call), start_(std::move(start)) {}
  request_awaiter(request_awaiter &&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    auto [w, run] = dist::running(call_);
    plait::detail::prepare(waiter_, w, h);
    run->home->add_pollable(*this);
  }

 protected:
  std::vector<MPI_Status> finish() {
    net::check(code_, call_);
    return std::move(statuses_);
  }

 private:
  bool test() noexcept override {
    int done = 1;
    if (!started_) {
      started_ = true;
      try {
        code_ = start_(requests_);
        statuses_.resize(requests_.size());
      } catch (...) {
        code_ = MPI_ERR_NO_MEM;
      }
    }
    if (code_ == MPI_SUCCESS && !requests_.empty()) {
      code_ = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, statuses_.data());
    }
    return done != 0 || code_ != MPI_SUCCESS;
  }
  void resume() noexcept override { plait::detail::resume_later(&waiter_); }

  const char* call_;
  Start start_;
  bool started_ = false;
  int code_ = MPI_SUCCESS;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  plait::detail::waiter waiter_;
};

/// Gives the status of a single request.
template <class Start>
class single_awaiter final : public request_awaiter<Start> {
 public:
  using request_awaiter<Start>::request_awaiter;
  MPI_Status await_resume() { return this->finish().front(); }
};
/// Gives the statuses of all requests.
template <class Start>
class several_awaiter final : public request_awaiter<Start> {
 public:
  using request_awaiter<Start>::request_awaiter;
  std::vector<MPI_Status> await_resume() { return this->finish(); }
};
/// Gives nothing.
template <class Start>
class collective_awaiter final : public request_awaiter<Start> {
 public:
  using request_awaiter<Start>::request_awaiter;
  void await_resume() { this->finish(); }
};

namespace start {
/// Starts a collective that makes one request.
template <class Call>
auto one(const char* name, Call call) {
  auto start = [call](std::vector<MPI_Request>& requests) {
    requests.resize(1);
    return call(&requests[0]);
  };
  return collective_awaiter<decltype(start)>(name, start);
}
}  // namespace start

// What follows are templates so that only programs that call them compile them.

/// `co_await wait(request)` suspends the task until the request has ended, and gives its status. Throws mpi_error.
template <class = void>
auto wait(MPI_Request request) {
  auto start = [request](std::vector<MPI_Request>& requests) {
    requests.push_back(request);
    return MPI_SUCCESS;
  };
  return single_awaiter<decltype(start)>("mpi::wait", start);
}
/// The same for several requests: the statuses in their order.
template <class = void>
auto wait_all(std::vector<MPI_Request> all) {
  auto start = [all = std::move(all)](std::vector<MPI_Request>& requests) {
    requests = all;
    return MPI_SUCCESS;
  };
  return several_awaiter<decltype(start)>("mpi::wait_all", std::move(start));
}

// The collectives of MPI under their names, awaitable; buffers must live until they end. On mpi::comm() they are legal
// in spmd bodies, one after another; on another communicator the same order on all its ranks is the caller's duty. They
// throw mpi_error.

/// MPI_Ibarrier.
template <class = void>
auto barrier(MPI_Comm comm) {
  return start::one("MPI_Ibarrier", [=](MPI_Request* r) { return MPI_Ibarrier(comm, r); });
}
/// MPI_Ibcast.
template <class = void>
auto bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return start::one("MPI_Ibcast", [=](MPI_Request* r) { return MPI_Ibcast(buffer, count, type, root, comm, r); });
}
/// MPI_Ireduce.
template <class = void>
auto reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return start::one("MPI_Ireduce",
                    [=](MPI_Request* r) { return MPI_Ireduce(from, to, count, type, op, root, comm, r); });
}
/// MPI_Iallreduce.
template <class = void>
auto allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return start::one("MPI_Iallreduce",
                    [=](MPI_Request* r) { return MPI_Iallreduce(from, to, count, type, op, comm, r); });
}
/// MPI_Igather.
template <class = void>
auto gather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
            int root, MPI_Comm comm) {
  return start::one("MPI_Igather", [=](MPI_Request* r) {
    return MPI_Igather(from, from_count, from_type, to, to_count, to_type, root, comm, r);
  });
}
/// MPI_Iallgather.
template <class = void>
auto allgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
               MPI_Comm comm) {
  return start::one("MPI_Iallgather", [=](MPI_Request* r) {
    return MPI_Iallgather(from, from_count, from_type, to, to_count, to_type, comm, r);
  });
}

}  // namespace mpi
}  // namespace PLAIT_DIST
}  // namespace plait

#endif  // PLAIT_WITH_MPI
