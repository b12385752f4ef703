// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/blocking_threads.hpp>
#include <plait/task/task.hpp>

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// Calls `call()` in a thread for such calls and goes on with what it gives. Off a worker it calls here.
template <class R, class F>
class blocking_awaiter final : public blocking_call {
 public:
  using resumes_in_pool = void;

  explicit blocking_awaiter(F& call) noexcept : call_(call) {}
  ~blocking_awaiter() { result_.clear(); }

  bool await_ready() noexcept {
    if (worker::of_this_thread() != nullptr) return false;
    run();
    return true;
  }
  bool await_suspend(std::coroutine_handle<> h) {
    threads_ = &blocking_threads<>::of(worker::of_this_thread()->home());
    if (!begin_as_work(h)) return false;
    try {
      return threads_->add(*this);
    } catch (...) {
      abandon();
      throw;
    }
  }
  R await_resume() {
    finish();
    return result_.take();
  }

 private:
  void run() noexcept override {
    try {
      if constexpr (std::is_void_v<R>) {
        call_();
        result_.set_value();
      } else if constexpr (std::is_lvalue_reference_v<R>) {
        result_.set_value(std::addressof(call_()));
      } else {
        result_.set_value(call_());
      }
    } catch (...) {
      result_.set_error(std::current_exception());
    }
  }
  waiter* interrupt() noexcept override { return threads_->withdraw(*this); }

  F& call_;
  blocking_threads<>* threads_ = nullptr;
  result_cell<R> result_;
};

template <class R, class F, class... A>
task<R> call_in_thread(F f, A... args) {
  auto call = [&]() -> R { return base::invoke(std::move(f), std::move(args)...); };
  blocking_awaiter<R, decltype(call)> awaiter(call);
  co_return co_await awaiter;
}

}  // namespace detail

/// A task that calls a function which may block (files, databases, another library's locks) in a thread that the pool
/// keeps for such calls, while its workers go on: `co_await blocking(read_file, name)`. It keeps decayed copies of the
/// function and its arguments, and gives the function's result, or throws its exception, in its own pool. A call that
/// runs is not interrupted; one that still waits for a thread when its task is asked to stop is never made, and
/// cancelled_error is thrown. There are at most pool_options::blocking_threads at a time; one without calls ends after
/// ten seconds. The end of a pool makes all calls. Throws plait::error if the system starts no thread. In the function
/// there is no running task: spawn is to the default pool, and fork and submit are errors.
template <class F, class... A>
auto blocking(F&& f, A&&... args) {
  using result = std::remove_const_t<std::invoke_result_t<std::decay_t<F>, std::decay_t<A>...>>;
  static_assert(!detail::is_task<result>,
                "plait: blocking is for plain functions; a coroutine gives its thread back by itself: co_await it");
  return detail::call_in_thread<result, std::decay_t<F>, std::decay_t<A>...>(std::forward<F>(f),
                                                                             std::forward<A>(args)...);
}

}  // namespace plait
