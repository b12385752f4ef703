// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/observers.hpp>

#include <coroutine>

PLAIT_INTERFACE

namespace plait {

/// `co_await yield()` lets other tasks of the worker run first: the task goes to the back of the worker's FIFO, from
/// where thieves may take it too. Does nothing off a worker.
class [[nodiscard("yield does nothing until it is co_awaited")]] yield {
 public:
  using resumes_in_pool = void;
  bool await_ready() const noexcept { return detail::worker::of_this_thread() == nullptr; }
  void await_suspend(std::coroutine_handle<> h) {
    auto* w = detail::worker::of_this_thread();
    detail::prepare(waiter_, w, h);
    auto& parking = w->home().parking();
    w->fifo.push(&waiter_);  // another worker may resume the task now
    parking.notify();
  }
  void await_resume() const noexcept {}

 private:
  detail::waiter waiter_;
};

}  // namespace plait
