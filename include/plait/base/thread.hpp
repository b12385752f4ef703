// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/simulator.hpp>

#include <pthread.h>
#include <string.h>

#include <utility>

PLAIT_INTERFACE

namespace plait::base {

/// A thread that is joined by its end. std::thread without what <thread> brings along. Its stack is as large as the
/// system makes them (`ulimit -s`).
class thread {
 public:
  thread() noexcept = default;
  /// Calls body() in a new thread. Throws plait::error if the system does not start one.
  template <class F>
  explicit thread(F body) {
    auto* kept = new F(std::move(body));
    if (auto* s = this_simulator()) {
      simulated_ = s->start([](void* k) { run<F>(k); }, kept);
      return;
    }
    const int failure = ::pthread_create(&id_, nullptr, &run<F>, kept);
    if (failure != 0) {
      delete kept;
      throw error(base::compose_text({"plait: the system did not start another thread: ", ::strerror(failure),
                                      "; use fewer workers, or raise the limit (ulimit -u)"})
                      .c_str());
    }
    running_ = true;
  }
  thread(thread&& other) noexcept
      : id_(other.id_),
        running_(base::exchange(other.running_, false)),
        simulated_(base::exchange(other.simulated_, nullptr)) {}
  thread& operator=(thread&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(running_, other.running_);
    std::swap(simulated_, other.simulated_);
    return *this;
  }
  ~thread() { join(); }

  /// Waits for the end of the body; does nothing where there is none.
  void join() noexcept {
    if (base::exchange(running_, false)) ::pthread_join(id_, nullptr);
    if (auto* simulated = base::exchange(simulated_, nullptr)) this_simulator()->join(simulated);
  }

 private:
  template <class F>
  static void* run(void* kept) noexcept {  // what the body throws ends the program
    auto* body = static_cast<F*>(kept);
    (*body)();
    delete body;
    return nullptr;
  }

  pthread_t id_{};
  bool running_ = false;
  void* simulated_ = nullptr;  ///< in a simulation, instead of id_
};

}  // namespace plait::base
