// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/mutex.hpp>
#include <plait/sched/worker.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

PLAIT_INTERFACE

namespace plait::sched {

/// Where a worker looks that has nothing in its own queues: what came from outside of the pool's workers, and what the
/// other workers have.
class victims {
 public:
  victims(base::fixed_array<worker>& workers, parking_lot& parking) noexcept : workers_(workers), parking_(parking) {}

  job_queue injected;  ///< from other threads, for any worker

  /// A job from its own queues, from outside of the pool's workers, or from another worker.
  job* find(worker& w) noexcept {
    if (auto* j = w.next_own()) return j;
    if (auto* j = w.take_first(injected, w.own)) return j;
    if (auto* j = w.helping() ? look_through_asides(w) : w.take_first(w.aside, w.own)) return j;
    return w.may_steal() ? steal(w, w.stealable()) : nullptr;
  }

  /// Another job from where the last one was stolen. Who finds one there does not count as searching meanwhile: that
  /// would take two changes of a word that all who push look at.
  job* steal_again(worker& w) noexcept {
    if (w.last_victim == nullptr || !w.may_steal()) return nullptr;
    auto* j = w.last_victim->own.steal(w.stealable());
    if (j != nullptr) {
      note_steal(w);
    } else {
      w.last_victim = nullptr;
    }
    return j;
  }

  job* steal(worker& w, jobs wanted) noexcept {
    const auto count = static_cast<unsigned>(workers_.size());
    if (count == 1) return nullptr;
    const auto first = static_cast<unsigned>(w.random() % count);
    for (unsigned i = 0; i < count; ++i) {
      auto& victim = workers_[(first + i) % count];
      if (&victim == &w) continue;
      auto* j = victim.own.steal(wanted);
      if (j != nullptr) w.last_victim = &victim;
      if (j == nullptr) j = victim.submitted.steal();
      if (j == nullptr) j = w.take_first(victim.placed, w.submitted);
      if (j == nullptr) j = w.take_first(victim.fifo, w.own);
      if (j == nullptr && wanted == jobs::all) j = w.take_first(victim.aside, w.own);
      if (j == nullptr) continue;
      note_steal(w);
      return j;
    }
    return nullptr;
  }

  static void note_steal(worker& w) noexcept {
    w.counters.stolen.add();
    if (auto* by = w.watched()) [[unlikely]]
      by->stole();
  }

  /// What a worker that helps may run of all that was put aside, by itself too, when its stack was higher.
  job* look_through_asides(worker& w) noexcept {
    if (workers_.size() == 1 || asides_.load(std::memory_order_relaxed) == 0)
      return nullptr;  // rest looks at the count again
    const std::lock_guard lock(asides_mutex_);
    for (auto& victim : workers_) {
      if (victim.aside.empty()) continue;
      auto* j = w.take_allowed(victim.aside);
      if (!victim.aside.empty()) parking_.notify_free();  // who looked meanwhile has found nothing, and may sleep
      if (j != nullptr) return j;
    }
    return nullptr;
  }

  /// Whether all workers are about to sleep, this one does so inside a blocking wait, and there are continuations which
  /// may not run on top of it.
  bool stuck(worker& w) noexcept {
    return w.helping() && parking_.sleepers() >= workers_.size() &&
           (!w.aside.empty() || anything_to_steal(jobs::all, &w));
  }
  /// One of them.
  job* last_resort(worker& w) noexcept {
    if (!w.may_help()) return nullptr;
    if (auto* j = w.take_first(w.aside, w.own)) return j;
    return steal(w, jobs::all);
  }

  bool anything_for(worker& w) noexcept {
    return w.has_bound() || w.own.offers() || !injected.empty() || w.submitted.offers() || !w.placed.empty() ||
           !w.fifo.empty() || (!w.helping() && !w.aside.empty()) ||
           (w.may_steal() && anything_to_steal(w.stealable(), &w));
  }

  bool anything_to_steal(jobs wanted, const worker* thief) noexcept {
    for (auto& w : workers_) {
      if (&w == thief) continue;
      if (w.own.offers(wanted) || w.submitted.offers() || !w.placed.empty() || !w.fifo.empty()) return true;
      if (wanted == jobs::all && !w.aside.empty()) return true;
    }
    return false;
  }

  /// Leaves a job, which may not run on top of this worker's stack, to free workers, to others that help and may run
  /// it, or to itself later.
  void put_aside(worker& w, job* j) noexcept {
    w.aside.push(j);
    asides_.fetch_add(1, std::memory_order_seq_cst);  // partner: asides
    parking_.wake_for_aside();
  }
  /// How often a job was put aside: who goes to sleep looks before and after its last search.
  std::uint32_t asides() const noexcept { return asides_.load(std::memory_order_seq_cst); }  // partner: put_aside

 private:
  base::fixed_array<worker>& workers_;
  parking_lot& parking_;
  base::atomic<std::uint32_t> asides_{0};
  base::mutex asides_mutex_;  ///< of those who look through what others have put aside
};

}  // namespace plait::sched
