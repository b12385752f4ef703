// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/spin_lock.hpp>
#include <plait/task/suspension.hpp>

#include <mutex>
#include <string>

// What the awaiters of the sync objects share. Each object has a lock, which is held for a few instructions, and never
// while a task is resumed or a function of the user runs, but a move in channel::try_send. What an operation needs is
// looked for once before the task joins those that a request to stop reaches, and once more afterwards: so an operation
// that need not wait is cheap, and does not look for a request either.

PLAIT_INTERFACE

namespace plait::detail {

/// An awaiter in a queue that a lock guards, both of one object.
class sync_awaiter : public suspension {
 public:
  using resumes_in_pool = void;

 protected:
  sync_awaiter(base::spin_lock& lock, suspension_queue& queue) noexcept : lock_(lock), queue_(queue) {}
  ~sync_awaiter() = default;

  waiter* interrupt() noexcept override {
    const std::lock_guard hold(lock_);
    return queue_.withdraw(*this);
  }

  base::spin_lock& lock_;
  suspension_queue& queue_;
};

/// Tasks to resume, in order, when no lock is held any more.
class wake_list {
 public:
  /// One that was just taken from a queue, or null.
  void add(suspension* s) noexcept {
    if (s == nullptr) return;
    s->next_job = nullptr;
    *end_ = s;
    end_ = &s->next_job;
  }
  void resume() noexcept { resume_all(first_); }

 private:
  sched::job* first_ = nullptr;
  sched::job** end_ = &first_;
};

/// In an object's destructor, where it ends the program.
inline void require_no_waiters(const suspension_queue& queue, const char* what) {
  if (!queue.empty()) throw error(std::string("plait: ") + what + " was destroyed while tasks wait at it");
}

}  // namespace plait::detail
