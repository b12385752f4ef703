// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/sched/suspended_list.hpp>
#include <plait/task/stop.hpp>

#include <coroutine>
#include <mutex>
#include <utility>

// How tasks suspend at timers and sync objects: a request to stop, and the end of the pool, take them away from there.

PLAIT_INTERFACE

namespace plait::detail {

/// A task that waits at a timer or sync object, whose mutex guards how far the suspension is. Base of awaiters; lies in
/// the suspended task's frame. An awaiter of an object with a suspension_queue:
///
///   bool await_suspend(std::coroutine_handle<> h) {
///     if (!begin(h)) return false;                        // asked to stop: await_resume throws
///     const std::lock_guard lock(object.mutex);
///     if (<it need not wait any more>) {
///       if (object.queue.pass(*this)) <take it>;
///       return false;
///     }
///     return object.queue.push_back(*this);               // from here on it may be resumed
///   }
///   void await_resume() { finish(); }                     // throws cancelled_error if it was interrupted
///   waiter* interrupt() noexcept override {
///     const std::lock_guard lock(object.mutex);
///     return object.queue.withdraw(*this);
///   }
///
/// Who resumes it takes it from the queue under the mutex, and calls resume_later, or resume_all, without it.
class suspension : public waiter, public sched::suspended_list::node {
 public:
  suspension() noexcept = default;
  suspension(const suspension&) = delete;
  suspension& operator=(const suspension&) = delete;

 protected:
  ~suspension() = default;

  /// Before it enters a queue. False: a stop was requested, so the task must not suspend. Throws std::bad_alloc.
  bool begin(std::coroutine_handle<> h) {
    if (!begin_as_work(h)) return false;
    if (family_ != nullptr) worker::of_this_thread()->suspended.add(*this);
    return true;
  }
  /// The same where what it waits for is work of the pool, whose end waits for it: only requests to stop interrupt it.
  bool begin_as_work(std::coroutine_handle<> h) {
    prepare(*this, worker::of_this_thread(), h);
    if (as == nullptr) return true;  // no task of a pool: nobody asks it to stop
    family_ = &join_stop_tree(*as);
    if (family_->stops.enter(*this)) return true;
    place_ = place::interrupted;
    return false;
  }

  /// Where await_suspend throws after begin.
  void abandon() noexcept {
    if (family_ == nullptr) return;
    sched::suspended_list::remove(*this);
    family_->stops.leave_suspension(*this);
    family_ = nullptr;
  }

  /// In await_resume: whoever might interrupt it is through with it afterwards. Throws cancelled_error if it was
  /// interrupted.
  void finish() {
    abandon();
    if (place_ == place::interrupted) {
      throw cancelled_error("plait: the task was asked to stop, or its pool ended, while it waited");
    }
  }

  // By the holder of the mutex of the object:

  /// It goes into the object's queue. False: it was interrupted, so it must not suspend.
  bool arrive() noexcept {
    if (place_ == place::interrupted) return false;
    place_ = place::queued;
    return true;
  }
  /// It need not wait, or it has been taken from the queue to be resumed. False: it was interrupted.
  bool take() noexcept {
    if (place_ == place::interrupted) return false;
    place_ = place::taken;
    return true;
  }
  /// True if it was in the queue, from which the caller takes it then and resumes it. It fails with cancelled_error,
  /// also if it has not come to the queue yet.
  bool withdraw() noexcept {
    const bool was_queued = place_ == place::queued;
    if (was_queued || place_ == place::outside) place_ = place::interrupted;
    return was_queued;
  }

 private:
  friend class suspension_queue;

  enum class place : unsigned char { outside, queued, taken, interrupted };

  family* family_ = nullptr;
  suspension* next_ = nullptr;
  suspension* before_ = nullptr;
  place place_ = place::outside;
};

/// Suspensions in order of arrival. All by the holder of the mutex that guards it.
class suspension_queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }

  /// False if it was interrupted before it came here.
  bool push_back(suspension& s) noexcept {
    if (!s.arrive()) return false;
    s.next_ = nullptr;
    s.before_ = last_;
    (last_ != nullptr ? last_->next_ : first_) = &s;
    last_ = &s;
    return true;
  }
  /// What it would wait for is there. False if it was interrupted before: then it must leave it to others.
  bool pass(suspension& s) noexcept { return s.take(); }
  /// The oldest, or null. It stays.
  suspension* front() const noexcept { return first_; }
  /// The oldest, or null. The caller resumes it.
  suspension* pop_front() noexcept {
    auto* s = first_;
    if (s == nullptr) return nullptr;
    unlink(*s);
    s->take();
    return s;
  }
  /// All, oldest first, for resume_all.
  sched::job* take_all() noexcept {
    for (auto* s = first_; s != nullptr; s = s->next_) {
      s->next_job = s->next_;
      s->take();
    }
    last_ = nullptr;
    return base::exchange(first_, nullptr);
  }
  /// An interruption: takes it out and gives it if it is there; if it has not come yet, it will not.
  waiter* withdraw(suspension& s) noexcept {
    if (!s.withdraw()) return nullptr;
    unlink(s);
    return &s;
  }

 private:
  void unlink(suspension& s) noexcept {
    (s.before_ != nullptr ? s.before_->next_ : first_) = s.next_;
    (s.next_ != nullptr ? s.next_->before_ : last_) = s.before_;
  }

  suspension* first_ = nullptr;
  suspension* last_ = nullptr;
};

/// Resumes all of a list that take_all gave.
inline void resume_all(sched::job* list) noexcept {
  while (list != nullptr) resume_later(static_cast<waiter*>(base::exchange(list, list->next_job)));
}

}  // namespace plait::detail
