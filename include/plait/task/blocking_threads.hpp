// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/thread.hpp>
#include <plait/base/thread_signal.hpp>
#include <plait/task/suspension.hpp>

#include <atomic>
#include <mutex>
#include <utility>

// The threads that a pool keeps for calls that block. There are as many as calls were under way at once, up to a limit;
// one that has had nothing to do for ten seconds ends.

PLAIT_INTERFACE

namespace plait::detail {

/// A call that a task waits for. Lies in the frame of the task.
class blocking_call : public suspension {
 public:
  /// Makes the call and keeps what it gives.
  virtual void run() noexcept = 0;

 protected:
  ~blocking_call() = default;
};

/// One pool's threads for such calls.
template <class = void>  // compiled where it is used
class blocking_threads final : public sched::pool_part {
 public:
  explicit blocking_threads(unsigned limit) noexcept : limit_(limit) {}
  blocking_threads(const blocking_threads&) = delete;
  blocking_threads& operator=(const blocking_threads&) = delete;
  ~blocking_threads() override {
    mutex_.lock();
    ending_ = true;
    while (idle_ != nullptr) wake_one();
    mutex_.unlock();
    while (all_ != nullptr) end(base::exchange(all_, all_->next));  // nobody enters or leaves any more
    end(left_);
  }

  static blocking_threads& of(pool& p) {
    return static_cast<blocking_threads&>(
        p.part([](unsigned limit) -> sched::pool_part* { return new blocking_threads(limit); }));
  }

  /// Hands over a call that has begun to wait. From here on its task may go on. False: a request to stop was faster.
  /// Throws plait::error if there is no thread and the system starts none.
  bool add(blocking_call& call) {
    const std::lock_guard lock(mutex_);
    if (idle_ == nullptr && count_ < limit_) grow();
    if (!calls_.push_back(call)) return false;
    if (idle_ != nullptr) wake_one();
    return true;
  }
  /// A request to stop: see suspension_queue.
  waiter* withdraw(blocking_call& call) noexcept {
    const std::lock_guard lock(mutex_);
    return calls_.withdraw(call);
  }

  bool owns_this_thread() const noexcept override {
    const std::lock_guard lock(mutex_);
    for (const auto* t = all_; t != nullptr; t = t->next) {
      if (t->identity == base::thread_identity()) return true;
    }
    return false;
  }

  /// How many there are now.
  unsigned count() const noexcept {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// After how long one without calls ends, from its next call on.
  void set_patience(std::chrono::nanoseconds patience) noexcept {
    const std::lock_guard lock(mutex_);
    patience_ = patience;
  }

 private:
  struct member {
    member* next = nullptr;  ///< in all_
    member* next_idle = nullptr;
    const void* identity = nullptr;
    base::thread_signal woken;
    base::thread thread;
  };

  // By the holder of the mutex:

  void grow() {
    if (base::this_simulator() != nullptr)
      throw error("plait: blocking was called in a simulation, where all would wait for the call: use charge");
    auto* m = new member;
    try {
      m->thread = base::thread([this, m] { serve(*m); });
    } catch (...) {
      delete m;
      if (count_ == 0) throw;
      return;  // those that there are will come to it
    }
    m->next = base::exchange(all_, m);
    ++count_;
  }
  void wake_one() noexcept {
    auto* m = base::exchange(idle_, idle_->next_idle);
    m->woken.set();
  }
  void lie_down(member& me) noexcept {
    me.woken.reset();
    me.next_idle = base::exchange(idle_, &me);
  }
  static void unlink(member& which, member*& first, member* member::*next) noexcept {
    auto** at = &first;
    while (*at != &which) at = &((*at)->*next);
    *at = which.*next;
  }

  /// The life of a thread.
  void serve(member& me) noexcept {
    mutex_.lock();
    me.identity = base::thread_identity();
    for (;;) {
      if (auto* call = static_cast<blocking_call*>(calls_.pop_front())) {
        mutex_.unlock();
        call->run();
        resume_later(call);
        mutex_.lock();
        continue;
      }
      if (ending_) return mutex_.unlock();
      lie_down(me);
      const auto until = base::now() + patience_;
      mutex_.unlock();
      me.woken.wait_until(until);
      mutex_.lock();
      if (me.woken.is_set()) continue;  // who has woken it has taken it from idle_
      unlink(me, idle_, &member::next_idle);
      if (calls_.empty()) return leave(me);
    }
  }

  /// It can't join itself: the next one that leaves, or the end, does.
  void leave(member& me) noexcept {
    unlink(me, all_, &member::next);
    --count_;
    auto* before = base::exchange(left_, &me);
    mutex_.unlock();
    end(before);
  }
  static void end(member* m) noexcept {
    delete m;  // joins it
  }

  mutable std::mutex mutex_;
  suspension_queue calls_;  ///< that wait for a thread
  member* all_ = nullptr;
  member* idle_ = nullptr;
  member* left_ = nullptr;  ///< the last that has left
  unsigned count_ = 0;
  const unsigned limit_;
  bool ending_ = false;
  std::chrono::nanoseconds patience_{std::chrono::seconds(10)};
};

}  // namespace plait::detail
