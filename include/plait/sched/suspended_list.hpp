// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/spin_lock.hpp>
#include <plait/sched/stop_node.hpp>

#include <cstdint>
#include <mutex>

PLAIT_INTERFACE

namespace plait::sched {

/// The tasks that are suspended where only something outside of the pool's queues, or another task, would resume them:
/// at timers, promises and sync objects. One a worker, for those that suspended there. The end of a pool empties it.
class suspended_list {
 public:
  /// An entry, part of an awaiter.
  struct node : interruptible {
   private:
    friend suspended_list;
    suspended_list* in_ = nullptr;
    node* next_ = nullptr;
    node* before_ = nullptr;
  };

  void add(node& n) noexcept {
    const std::lock_guard lock(mutex_);
    n.in_ = this;
    n.before_ = nullptr;
    n.next_ = first_;
    if (first_ != nullptr) first_->before_ = &n;
    first_ = &n;
  }
  /// From the list where it is, if it is in one. By any thread; nobody else does it at the same time.
  static void remove(node& n) noexcept {
    if (n.in_ == nullptr) return;
    const std::lock_guard lock(n.in_->mutex_);
    n.in_->unlink(n);
  }
  /// The same in its interrupt().
  static void remove_interrupted(node& n) noexcept { n.in_->unlink(n); }

  /// How many there are.
  std::uint64_t size() noexcept {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    for (auto* n = first_; n != nullptr; n = n->next_) ++count;
    return count;
  }

  /// Interrupts all; gives those that it could take away, linked by next_job.
  job* interrupt_all() noexcept {
    const std::lock_guard lock(mutex_);  // keeps them from going on and ending
    job* taken = nullptr;
    node* next = nullptr;
    for (auto* n = first_; n != nullptr; n = next) {
      next = n->next_;
      auto* w = n->interrupt();
      if (w == nullptr) continue;
      w->next_job = taken;
      taken = w;
    }
    return taken;
  }

 private:
  void unlink(node& n) noexcept {
    (n.before_ != nullptr ? n.before_->next_ : first_) = n.next_;
    if (n.next_ != nullptr) n.next_->before_ = n.before_;
    n.in_ = nullptr;
  }

  base::spin_lock mutex_;
  node* first_ = nullptr;
};

}  // namespace plait::sched
