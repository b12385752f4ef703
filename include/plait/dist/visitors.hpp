// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/spin_lock.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/portable.hpp>
#include <plait/dist/replies.hpp>
#include <plait/task/stop.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

// Tasks of other ranks that are on this one, and how they are told to stop.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// A task that came from another rank, whatever it calls. Whoever takes it out of its queue starts it or makes it
/// leave; if it was cancelled there, that ends it. So its memory lasts until it is taken out.
class visitor : public portable {
 public:
  visitor(void (*run)(sched::job*, sched::worker&) noexcept, const wire::registry_entry& entry,
          const return_address& to) noexcept
      : portable(run, entry), to_(to) {}

  /// The rank that sent it and gets credit back when it leaves its queue, or -1.
  std::int32_t creditor = -1;

  std::uint64_t flow() const noexcept override { return flow_of(to_); }

  /// Before it runs. False: it was cancelled in its queue, and is gone now.
  bool start() noexcept { return go(phase::running) || discard(); }

 protected:
  /// Before it leaves. False: as above.
  bool start_leaving() noexcept { return go(phase::leaving) || discard(); }
  /// It does not leave.
  void come_back() noexcept { phase_.store(phase::queued, std::memory_order_release); }  // partner: go

  const return_address to_;

 private:
  friend class visitors;
  enum class phase : std::uint8_t { queued, running, leaving, cancelled };

  /// True for the one who takes it out of the phase queued.
  bool go(phase next) noexcept {
    auto expected = phase::queued;
    // acq_rel: come_back, and what follows in the new phase
    return phase_.compare_exchange_strong(expected, next, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  bool is_running() const noexcept { return phase_.load(std::memory_order_acquire) == phase::running; }  // partner: go
  bool discard() noexcept {
    auto* parent = self.parent;
    delete this;
    parent->child_ended(true);
    return false;
  }

  base::atomic<phase> phase_{phase::queued};
  bool listed_ = false;  ///< it is in a table; of who may start it
  visitor* next_ = nullptr;
  visitor** place_ = nullptr;  ///< what points to it
};

/// The visitors of a rank by the addresses of their results. Thread-safe.
class visitors {
 public:
  visitors() = default;
  visitors(const visitors&) = delete;
  visitors& operator=(const visitors&) = delete;

  /// Before it is queued. late: what was sent after it may have come before it. Whether it is to stop then.
  bool add(visitor& v, bool late) noexcept {
    v.listed_ = true;
    lock_.lock();
    if (count_ >= 2 * buckets() && buckets() < most_buckets) grow();
    put(v);
    std::size_t miss = late ? 0 : missed_.size();
    while (miss < missed_.size() && !is_at(v, missed_[miss])) ++miss;
    const bool to_stop = miss < missed_.size();
    if (to_stop) missed_.erase(miss);
    lock_.unlock();
    return to_stop;
  }
  /// A run begins.
  void forget_misses() noexcept { missed_.clear(); }
  /// Before it leaves, or ends. Nothing if it is not there.
  void remove(visitor& v) noexcept {
    if (!std::exchange(v.listed_, false)) return;
    lock_.lock();
    take_out(v);
    lock_.unlock();
  }

  /// Calls f(visitor&) for all that are here.
  template <class F>
  void for_each(F f) {
    const std::lock_guard lock(lock_);
    for (std::size_t i = 0; i < buckets(); ++i) {
      for (auto* v = more_.empty() ? first_[i] : more_[i]; v != nullptr; v = v->next_) f(*v);
    }
  }

  /// The rank of a task wants it to stop. One that has not started never will, and its result is a cancelled_error;
  /// one that runs is told, in this thread. If it is not here, it has ended; or has moved on, and who has got it is
  /// asked then; or is late, and stops when it comes. Not by the holder of the transport, since those whom a
  /// std::stop_token calls are user code.
  void stop(const return_address& to, replies& answers) noexcept {
    const wire::registry_entry* cancelled = nullptr;
    sched::family* running = nullptr;
    lock_.lock();
    if (auto* v = find(to)) {
      const auto* callable = v->callable;
      take_out(*v);  // first: once it is cancelled, who finds it in its queue ends it
      if (v->go(visitor::phase::cancelled)) {
        cancelled = callable;
      } else {
        put(*v);
        running = family_of_running(*v);
      }
    } else {
      note_miss(to);
    }
    lock_.unlock();
    if (cancelled != nullptr) answers.send_failure(to, std::make_exception_ptr(cancelled_error()), *cancelled);
    if (running != nullptr) {
      plait::detail::request_stop(*running);
      running->subtree_ended();
    }
  }

 private:
  static constexpr std::size_t first_buckets = 64;
  static constexpr std::size_t most_buckets = 4096;

  std::size_t buckets() const noexcept { return more_.empty() ? first_buckets : more_.size(); }
  visitor*& bucket_of(const return_address& to) noexcept {
    // A rank numbers its slots one after another.
    const auto key = static_cast<std::uint32_t>(to.slot) + static_cast<std::uint32_t>(to.rank) * 2654435769u;
    return (more_.empty() ? first_ : more_.begin())[key & (buckets() - 1)];
  }
  visitor* find(const return_address& to) noexcept {
    auto* v = bucket_of(to);
    while (v != nullptr && !is_at(*v, to)) v = v->next_;
    return v;
  }
  static bool is_at(const visitor& v, const return_address& to) noexcept {
    return v.to_.slot == to.slot && v.to_.rank == to.rank;
  }
  void note_miss(const return_address& to) noexcept {
    try {
      missed_.push_back(to);
    } catch (...) {  // no memory: a late one ends by itself
    }
  }
  /// With a subtree counted, or null. By the holder of the lock, so that the task can't end meanwhile.
  static sched::family* family_of_running(visitor& v) noexcept {
    if (!v.is_running()) return nullptr;
    try {
      auto& f = v.self.make_children();
      f.add_subtree();
      return &f;
    } catch (...) {  // no memory: it ends by itself
      return nullptr;
    }
  }
  void take_out(visitor& v) noexcept {
    *v.place_ = v.next_;
    if (v.next_ != nullptr) v.next_->place_ = v.place_;
    --count_;
  }
  void put(visitor& v) noexcept {
    ++count_;
    auto& first = bucket_of(v.to_);
    v.next_ = first;
    v.place_ = &first;
    if (first != nullptr) first->place_ = &v.next_;
    first = &v;
  }
  void grow() noexcept {
    base::growing_array<visitor*> before;
    try {
      before.resize(4 * buckets());
    } catch (...) {  // then it goes on with longer lists
      return;
    }
    before.swap(more_);
    count_ = 0;
    const auto put_all = [this](visitor* v) {
      while (v != nullptr) put(*std::exchange(v, v->next_));
    };
    if (before.empty()) {
      for (auto*& v : first_) put_all(std::exchange(v, nullptr));
    } else {
      for (auto* v : before) put_all(v);
    }
  }

  base::spin_lock lock_;
  std::size_t count_ = 0;
  visitor* first_[first_buckets] = {};
  base::growing_array<visitor*> more_;          // in place of first_ once it has grown
  base::growing_array<return_address> missed_;  // of this run: requests to stop what was not here
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
