// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/later.hpp>
#include <plait/base/ranges.hpp>
#include <plait/dist/runtime.hpp>
#include <plait/dist/submit.hpp>

#if PLAIT_WITH_MPI

#include <coroutine>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

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

/// Waits for requests while the worker runs other tasks. `start(own, all)` makes them, on a thread that may call MPI,
/// and gives a code of MPI: in `own`, or somewhere else, and then it sets `all`. It is the first thing that happens
/// after the task has suspended. All have ended before the task goes on, also if one of them fails.
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
  using status_list = base::later<std::vector<MPI_Status>, Start>;
  status_list finish() {
    net::check(code_, call_);
    return std::move(statuses_);
  }

 private:
  bool test() noexcept override {
    if (!std::exchange(started_, true) && !begin()) return true;
    // One after another, so that what has ended is not looked at again.
    for (; ended_ < all_.size(); ++ended_) {
      int done = 0;
      const int code = MPI_Test(&all_[ended_], &done, &statuses_[ended_]);
      if (code == MPI_SUCCESS && done == 0) return false;
      if (code_ == MPI_SUCCESS) code_ = code;
    }
    return true;
  }
  bool begin() noexcept {
    try {
      code_ = start_(own_, all_);
      if (all_.empty()) all_ = own_;
      if (code_ == MPI_SUCCESS) statuses_.resize(all_.size());
    } catch (...) {
      code_ = MPI_ERR_NO_MEM;
    }
    return code_ == MPI_SUCCESS;
  }
  void resume() noexcept override { plait::detail::resume_later(&waiter_); }
  const char* call() const noexcept override { return call_; }

  const char* call_;
  Start start_;
  bool started_ = false;
  int code_ = MPI_SUCCESS;
  base::later<std::vector<MPI_Request>, Start> own_;
  base::later<std::span<MPI_Request>, Start> all_;
  std::size_t ended_ = 0;  // those before have
  status_list statuses_;
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
  base::later<std::vector<MPI_Status>, Start> await_resume() { return this->finish(); }
};
/// Gives nothing.
template <class Start>
class collective_awaiter final : public request_awaiter<Start> {
 public:
  using request_awaiter<Start>::request_awaiter;
  void await_resume() { this->finish(); }
};

// What follows are templates so that only programs that call them compile them.

/// `co_await wait(request)` suspends the task until the request has ended, and gives its status. The caller's variable
/// keeps the old handle, which means nothing then. Throws mpi_error.
template <class = void>
auto wait(MPI_Request request) {
  auto start = [request](auto& own, auto&) {
    own.push_back(request);
    return MPI_SUCCESS;
  };
  return single_awaiter<decltype(start)>("mpi::wait", start);
}

/// The same for all requests of a contiguous range (vector, array, span): the statuses in their order; for an inactive
/// request, or MPI_REQUEST_NULL, an empty status. Handles in an rvalue container, and const ones, are copied. Others,
/// in an lvalue or behind a span, must stay where they are until the task goes on; then they are what MPI_Waitall
/// leaves, MPI_REQUEST_NULL or, if they are persistent, inactive. If some fail, the first error is thrown when all have
/// ended, where MPI returns errors (MPICH asks MPI_COMM_WORLD's error handler here).
template <std::ranges::contiguous_range R>
  requires std::is_same_v<std::ranges::range_value_t<R>, MPI_Request>
auto wait_all(R&& requests) {
  if constexpr (std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>> ||
                !(std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>)) {
    auto start = [copy = std::vector<MPI_Request>(std::ranges::begin(requests), std::ranges::end(requests))](auto& own,
                                                                                                             auto&) {
      own = copy;
      return MPI_SUCCESS;
    };
    return several_awaiter<decltype(start)>("mpi::wait_all", std::move(start));
  } else {
    auto start = [there = std::span<MPI_Request>(requests)](auto&, auto& all) {
      all = there;
      return MPI_SUCCESS;
    };
    return several_awaiter<decltype(start)>("mpi::wait_all", start);
  }
}
template <class Compiled = void>
auto wait_all(std::initializer_list<MPI_Request> requests) {
  return wait_all(base::later<std::vector<MPI_Request>, Compiled>(requests));
}

}  // namespace mpi
}  // namespace PLAIT_DIST
}  // namespace plait

#endif  // PLAIT_WITH_MPI
