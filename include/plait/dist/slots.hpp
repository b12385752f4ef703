// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/spin_lock.hpp>
#include <plait/dist/portable.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// What waits on this rank for results from others, by number. A number is used again only with another generation, so
/// a result that comes twice is noticed. Thread-safe.
class slot_table {
 public:
  std::uint64_t add(awaiting_reply& who) {
    const std::lock_guard hold(lock_);
    if (free_ == slots_.size()) slots_.push_back({nullptr, 0, free_ + 1});
    const auto index = free_;
    auto& s = slots_[index];
    free_ = s.next_free;
    s.who = &who;
    added_.store(added_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);  // partner: any_expected
    return index | std::uint64_t{s.generation} << 32;
  }

  /// A result has come: who waits for it. If it expects no more, the slot is free, and the caller calls `delivered`
  /// in time.
  awaiting_reply& receive(std::uint64_t slot) {
    const std::lock_guard hold(lock_);
    auto& s = used(slot);
    auto& who = *s.who;
    if (--who.expected == 0) free(s, slot);
    return who;
  }

  /// Who waits for its result, or null where nothing waits any more.
  awaiting_reply* find(std::uint64_t slot) {
    const std::lock_guard hold(lock_);
    const auto index = static_cast<std::uint32_t>(slot);
    return index < slots_.size() && slots_[index].generation == slot >> 32 ? slots_[index].who : nullptr;
  }

  /// Calls f(awaiting_reply&) for all that wait.
  template <class F>
  void for_each(F f) {
    const std::lock_guard hold(lock_);
    for (auto& s : slots_) {
      if (s.who != nullptr) f(*s.who);
    }
  }

  /// Nothing comes for it.
  void remove(std::uint64_t slot) {
    const std::lock_guard hold(lock_);
    free(used(slot), slot);
  }

  /// What so many waited for has become jobs, or does not come.
  void delivered(std::uint64_t count) noexcept { delivered_.fetch_add(count, std::memory_order_seq_cst); }  // see below
  /// Whether somebody waits for what has not become a job yet.
  bool any_expected() const noexcept {
    const auto delivered = delivered_.load(std::memory_order_seq_cst);  // first: it never passes the other
    return added_.load(std::memory_order_seq_cst) != delivered;
  }

 private:
  struct entry {
    awaiting_reply* who;
    std::uint32_t generation;
    std::uint32_t next_free;  // of those that are free
  };

  void free(entry& s, std::uint64_t slot) noexcept {
    s.who = nullptr;
    ++s.generation;
    s.next_free = free_;
    free_ = static_cast<std::uint32_t>(slot);
  }
  entry& used(std::uint64_t slot) {
    const auto index = static_cast<std::uint32_t>(slot);
    if (index >= slots_.size() || slots_[index].who == nullptr || slots_[index].generation != slot >> 32) {
      throw error(base::compose(
          {"plait: a result came for slot ", slot, ", where nothing waits: the message is damaged or came twice"}));
    }
    return slots_[index];
  }

  base::spin_lock lock_;
  base::atomic<std::uint64_t> added_{0};
  base::atomic<std::uint64_t> delivered_{0};
  base::growing_array<entry> slots_;
  std::uint32_t free_ = 0;  // the first free one; as many as there are if none is
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
