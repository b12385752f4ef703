// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace plait::sched {

struct job;

/// A work-stealing deque of jobs: its owner pushes and pops at the bottom, any thread steals at the top.
/// Chase and Lev, "Dynamic Circular Work-Stealing Deque", SPAA 2005. It grows and never shrinks; outgrown rings are kept
/// until it ends, because a thief may still read one.
///
/// pop publishes bottom by a seq_cst exchange and then reads top; steal reads top and then bottom, all seq_cst. In the single
/// total order of these operations one of the two sees the other, so the last job is not taken twice: where both see it,
/// they compete for top by compare-exchange. There is no standalone fence (ThreadSanitizer does not model them).
class deque {
 public:
  /// capacity: of the first ring, a power of two.
  explicit deque(std::size_t capacity = 256) {
    install(capacity);
    publish();
  }
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;

  /// Owner only. Throws std::bad_alloc where it must grow and cannot; the job is then not in the deque.
  PLAIT_ALWAYS_INLINE void push(job* j) {
    const auto b = bottom_.load(std::memory_order_relaxed);  // only the owner writes it
    if (b - top_seen_ > mask_) [[unlikely]]
      make_room(b);
    slot(b).store(j, std::memory_order_relaxed);      // ordered by the release of bottom below
    bottom_.store(b + 1, std::memory_order_release);  // partner: steal's load of bottom
  }

  /// Owner only: the newest job, or null.
  job* pop() noexcept {
    const auto b = bottom_.load(std::memory_order_relaxed) - 1;  // only the owner writes it
    bottom_.exchange(b, std::memory_order_seq_cst);
    auto t = top_.load(std::memory_order_seq_cst);
    if (t < b) [[likely]]
      return slot(b).load(std::memory_order_relaxed);  // written by this thread
    job* taken = nullptr;
    if (t == b) {
      taken = slot(b).load(std::memory_order_relaxed);  // written by this thread
      // relaxed on failure: the thief that won has everything, nothing of it is read here
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) taken = nullptr;
    }
    bottom_.store(b + 1, std::memory_order_relaxed);  // publishes no new job
    return taken;
  }

  /// Owner only: takes the newest job if it is this very one, and says whether it did.
  PLAIT_ALWAYS_INLINE bool pop_if(job* mine) noexcept {
    const auto b = bottom_.load(std::memory_order_relaxed) - 1;          // only the owner writes it
    if (slot(b).load(std::memory_order_relaxed) != mine) return false;   // written by this thread
    return pop() == mine;
  }

  /// Any thread: the oldest job, or null if there is none or another took it first.
  job* steal() noexcept {
    auto t = top_.load(std::memory_order_seq_cst);
    const auto b = bottom_.load(std::memory_order_seq_cst);
    if (t >= b) return nullptr;
    auto* r = ring_.load(std::memory_order_acquire);  // partner: publish; an older ring holds the same job at t
    auto* found = r->cells[static_cast<std::size_t>(t & r->mask)].load(std::memory_order_relaxed);  // ordered by the load of bottom, checked below
    // relaxed on failure: what was read is dropped
    return top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed) ? found : nullptr;
  }

  /// Any thread: whether a thief would have found something. A hint, stale at once.
  bool looks_empty() const noexcept {
    return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst);
  }
  /// How many jobs it holds. Exact for the owner when nobody steals.
  std::int64_t size() const noexcept {
    return bottom_.load(std::memory_order_seq_cst) - top_.load(std::memory_order_seq_cst);
  }
  /// Owner only: where the bottom is. Jobs at or above it were pushed later.
  std::int64_t mark() const noexcept { return bottom_.load(std::memory_order_relaxed); }  // only the owner writes it

 private:
  using cell = std::atomic<job*>;

  cell& slot(std::int64_t i) noexcept { return own_ring_[i & mask_]; }

  struct ring {
    std::int64_t mask;
    std::unique_ptr<cell[]> cells;
  };

  void install(std::size_t capacity) {
    rings_.push_back(std::make_unique<ring>());
    try {
      rings_.back()->cells = std::make_unique<cell[]>(capacity);
    } catch (...) {
      rings_.pop_back();
      throw;
    }
    mask_ = rings_.back()->mask = static_cast<std::int64_t>(capacity) - 1;
    own_ring_ = rings_.back()->cells.get();
  }

  PLAIT_NOINLINE void make_room(std::int64_t b) {
    top_seen_ = top_.load(std::memory_order_acquire);  // partner: the exchanges of thieves; what they took may be overwritten
    if (b - top_seen_ <= mask_) return;
    auto* old_ring = own_ring_;
    const auto old_mask = mask_;
    install(2 * (static_cast<std::size_t>(mask_) + 1));
    for (auto i = top_seen_; i < b; ++i) {
      slot(i).store(old_ring[i & old_mask].load(std::memory_order_relaxed), std::memory_order_relaxed);  // see publish
    }
    publish();
  }

  void publish() noexcept { ring_.store(rings_.back().get(), std::memory_order_release); }  // partner: steal's load of ring_

  alignas(64) std::atomic<std::int64_t> top_{0};
  alignas(64) std::atomic<std::int64_t> bottom_{0};
  cell* own_ring_ = nullptr;
  std::int64_t mask_ = 0;
  std::int64_t top_seen_ = 0;  // top never goes back, so this is a lower bound
  std::atomic<ring*> ring_{nullptr};
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace plait::sched
