// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/thread.hpp>
#include <plait/base/thread_signal.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// What a progress thread does for its owner.
class progress_owner {
 public:
  /// Looks after messages.
  virtual void poll_for_all() noexcept = 0;

 protected:
  ~progress_owner() = default;
};

/// A thread that looks after messages when all workers are busy in long functions: if nobody has polled for `nap`, it
/// does. While a worker sleeps where it hears messages, and between runs, it sleeps until it is called, or there is
/// something to send. Its owner's poll leaves word where another thread is at it (transport_hold.hpp).
class progress_thread {
 public:
  /// The owner polls at most once every `nap`.
  progress_thread(progress_owner& owner, std::chrono::nanoseconds nap) noexcept : owner_(owner), nap_(nap) {}
  progress_thread(const progress_thread&) = delete;
  progress_thread& operator=(const progress_thread&) = delete;
  ~progress_thread() { stop(); }

  void start() {
    thread_ = base::thread([this] { loop(); });
  }
  void stop() noexcept {
    stopping_.store(true, std::memory_order_seq_cst);
    ended_.set();
    signal_.set();
    thread_.join();
  }

  /// A run begins or ends.
  void run_began() noexcept {
    in_run_.store(true, std::memory_order_seq_cst);
    call();
  }
  void run_ended() noexcept { in_run_.store(false, std::memory_order_seq_cst); }

  /// A worker begins or ends to listen.
  void worker_listens() noexcept { listening_.store(true, std::memory_order_seq_cst); }
  void worker_rises() noexcept {
    listening_.store(false, std::memory_order_seq_cst);
    call();
  }

  /// There is something to send that waits for the next poll, and the sleeping worker does not know.
  void poll_later() noexcept {
    if (wanted_.load(std::memory_order_relaxed)) return;  // a hint: whoever set it has called, or is about to
    wanted_.store(true, std::memory_order_seq_cst);
    call();
  }

  /// Somebody has polled.
  void polled() noexcept {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }  // a hint

 private:
  void call() noexcept {
    if (asleep_.load(std::memory_order_seq_cst)) signal_.set();
  }
  bool idle() const noexcept {
    return !in_run_.load(std::memory_order_seq_cst) || listening_.load(std::memory_order_seq_cst);
  }

  void loop() {
    int calm = 0;
    while (!stopping_.load(std::memory_order_seq_cst)) {
      const auto seen = polls_.load(std::memory_order_relaxed);  // a hint
      ended_.wait_until(base::now() + nap_);
      const bool wanted = wanted_.exchange(false, std::memory_order_seq_cst);
      if (!wanted && idle()) {
        // Waking it costs a worker a system call, so it sleeps deeply only after a while of calm.
        if (++calm > 20) sleep();
        continue;
      }
      calm = 0;
      // A poll since `seen` may have come before what is wanted now.
      if (wanted || polls_.load(std::memory_order_relaxed) == seen) owner_.poll_for_all();  // a hint
    }
  }

  bool may_sleep() const noexcept {
    return idle() && !wanted_.load(std::memory_order_seq_cst) && !stopping_.load(std::memory_order_seq_cst);
  }

  void sleep() noexcept {
    signal_.reset();
    asleep_.store(true, std::memory_order_seq_cst);
    // Who changes these looks at asleep_ afterwards.
    if (may_sleep()) signal_.wait();
    asleep_.store(false, std::memory_order_seq_cst);
  }

  progress_owner& owner_;
  const std::chrono::nanoseconds nap_;
  base::atomic<bool> in_run_{false};
  base::atomic<bool> listening_{false};
  base::atomic<bool> asleep_{false};
  base::atomic<bool> stopping_{false};
  base::atomic<bool> wanted_{false};
  base::atomic<std::uint64_t> polls_{0};
  base::thread_signal signal_;
  base::thread_signal ended_;  ///< ends a nap, which may be as long as the program wants
  base::thread thread_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
