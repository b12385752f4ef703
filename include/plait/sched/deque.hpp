// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/large_pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

PLAIT_INTERFACE

namespace plait::sched {

struct job;

/// Which jobs a thief wants. `fresh`: no continuation of a task that has forked another.
enum class jobs : bool { all, fresh };

/// A work-stealing deque of jobs: its owner pushes and pops at the bottom, any thread steals at the top.
/// Chase and Lev, "Dynamic Circular Work-Stealing Deque", SPAA 2005. It grows and never shrinks; outgrown rings are
/// kept until it ends, because a thief may still read one.
///
/// pop publishes bottom by a seq_cst exchange and then reads top; steal reads top and then bottom, all seq_cst. In the
/// single total order of these operations one of the two sees the other, so the last job is not taken twice: where both
/// see it, they compete for top by compare-exchange. There is no standalone fence (ThreadSanitizer does not model
/// them).
///
/// A cell is the job's address; its lowest bit marks a continuation, so that a thief can tell before the job is its
/// own.
class deque {
 public:
  /// capacity: of the first ring, a power of two.
  explicit deque(std::size_t capacity = 256) {
    install(capacity);
    last_free_ = mask_;
    publish();
  }
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;
  ~deque() {
    while (rings_ != nullptr) {
      auto* outgrown = rings_;
      rings_ = outgrown->before;
      base::release_slab(outgrown, size_of(static_cast<std::size_t>(outgrown->mask) + 1));
    }
  }

  /// Before its first job: from now on there is never room without looking further, so that who forks has to do so, and
  /// can count.
  void count_continuations() noexcept {
    counted_ = true;
    last_free_ = -1;
  }
  /// Owner only: whether there is room for another job without looking further.
  PLAIT_ALWAYS_INLINE bool has_room() const noexcept { return mark() <= last_free_; }
  /// Owner only. Makes room for one job. Throws std::bad_alloc where it must grow and cannot.
  void reserve() {
    if (!has_room()) make_room();
  }
  /// Owner only, where there is room.
  PLAIT_ALWAYS_INLINE void push_reserved(job* j) noexcept { put(reinterpret_cast<std::uintptr_t>(j)); }
  /// The same for the continuation of a task.
  PLAIT_ALWAYS_INLINE void push_reserved_continuation(job* j) noexcept {
    put(reinterpret_cast<std::uintptr_t>(j) | continuation);
  }

  /// Owner only. Throws std::bad_alloc where it must grow and cannot; the job is then not in the deque.
  void push(job* j) {
    reserve();
    push_reserved(j);
  }
  /// The same for the continuation of a task.
  void push_continuation(job* j) {
    reserve();
    push_reserved_continuation(j);
  }

  /// Owner only: the newest job, or null.
  job* pop() noexcept { return job_in(take_newest()); }

  /// Owner only: takes the newest job if it is this very continuation, and says whether it did.
  PLAIT_ALWAYS_INLINE bool pop_if(job* mine) noexcept {
    const auto b = bottom_.load(std::memory_order_relaxed) - 1;  // only the owner writes it
    const auto expected = reinterpret_cast<std::uintptr_t>(mine) | continuation;
    if (slot(b).load(std::memory_order_relaxed) != expected) return false;  // written by this thread
    return withdraw(b);
  }

  /// Any thread: the oldest job, or null if there is none, it is not wanted, or another took it first.
  job* steal(jobs wanted = jobs::all) noexcept {
    auto t = top_.load(std::memory_order_seq_cst);
    const auto b = bottom_.load(std::memory_order_seq_cst);
    if (t >= b) return nullptr;
    const auto found = oldest(t);
    if (wanted == jobs::fresh && (found & continuation) != 0) return nullptr;
    // relaxed on failure: what was read is dropped
    return top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed) ? job_in(found)
                                                                                                        : nullptr;
  }

  /// Any thread: whether a thief would have found something. A hint, stale at once.
  bool offers(jobs wanted = jobs::all) const noexcept {
    const auto t = top_.load(std::memory_order_seq_cst);
    if (t >= bottom_.load(std::memory_order_seq_cst)) return false;
    return wanted == jobs::all || (oldest(t) & continuation) == 0;
  }
  /// How many jobs it holds. Exact for the owner when nobody steals.
  std::int64_t size() const noexcept {
    return bottom_.load(std::memory_order_seq_cst) - top_.load(std::memory_order_seq_cst);
  }
  /// Owner only: where the bottom is. Jobs at or above it were pushed later.
  std::int64_t mark() const noexcept { return bottom_.load(std::memory_order_relaxed); }  // only the owner writes it
  /// Owner only: whether the newest job, if there is one, is a continuation.
  bool newest_is_continuation() const noexcept {
    return (slot(mark() - 1).load(std::memory_order_relaxed) & continuation) != 0;  // written by this thread
  }

 private:
  using cell = base::atomic_ref<std::uintptr_t>;
  static constexpr std::uintptr_t continuation = 1;

  /// The head of a ring; its cells follow in memory.
  struct ring {
    ring* before;
    std::int64_t mask;
    std::uintptr_t* cells() noexcept { return reinterpret_cast<std::uintptr_t*>(this + 1); }
  };

  static job* job_in(std::uintptr_t value) noexcept { return reinterpret_cast<job*>(value & ~continuation); }

  cell slot(std::int64_t i) const noexcept { return cell(own_cells_[i & mask_]); }

  PLAIT_ALWAYS_INLINE void put(std::uintptr_t value) noexcept {
    const auto b = mark();
    slot(b).store(value, std::memory_order_relaxed);  // ordered by the release of bottom below
    bottom_.store(b + 1, std::memory_order_release);  // partner: steal's load of bottom
  }

  std::uintptr_t take_newest() noexcept {
    const auto b = bottom_.load(std::memory_order_relaxed) - 1;        // only the owner writes it
    return withdraw(b) ? slot(b).load(std::memory_order_relaxed) : 0;  // written by this thread
  }

  /// Takes the job at b, the newest, away from thieves. False if there is none, or a thief has it.
  PLAIT_ALWAYS_INLINE bool withdraw(std::int64_t b) noexcept {
    bottom_.exchange(b, std::memory_order_seq_cst);
    auto t = top_.load(std::memory_order_seq_cst);
    if (t < b) [[likely]]
      return true;
    // relaxed on failure: the thief that won has everything, nothing of it is read here
    const bool mine =
        t == b && top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed);
    bottom_.store(b + 1, std::memory_order_relaxed);  // publishes no new job
    return mine;
  }

  /// What lies at t, which is the top; ordered by the loads of top and bottom before, and checked by who takes it.
  std::uintptr_t oldest(std::int64_t t) const noexcept {
    auto* r = ring_.load(std::memory_order_acquire);  // partner: publish; an older ring holds the same job at t
    return cell(r->cells()[t & r->mask]).load(std::memory_order_relaxed);
  }

  static std::size_t size_of(std::size_t capacity) noexcept { return sizeof(ring) + capacity * sizeof(std::uintptr_t); }

  /// Its cells are not initialised: none is read before it was written, and a large ring is not touched before.
  void install(std::size_t capacity) {
    auto* fresh = ::new (base::allocate_slab(size_of(capacity))) ring{rings_, static_cast<std::int64_t>(capacity) - 1};
    rings_ = fresh;
    mask_ = fresh->mask;
    own_cells_ = fresh->cells();
  }

  PLAIT_NOINLINE void make_room() {
    const auto b = mark();
    const auto top =
        top_.load(std::memory_order_acquire);  // partner: the exchanges of thieves; what they took may be overwritten
    note_free(top);
    if (b <= top + mask_) return;
    auto* old_cells = own_cells_;
    const auto old_mask = mask_;
    install(2 * (static_cast<std::size_t>(mask_) + 1));
    for (auto i = top; i < b; ++i) {
      slot(i).store(old_cells[i & old_mask], std::memory_order_relaxed);  // see publish
    }
    note_free(top);
    publish();
  }

  void note_free(std::int64_t top) noexcept {
    if (!counted_) last_free_ = top + mask_;
  }

  void publish() noexcept { ring_.store(rings_, std::memory_order_release); }  // partner: oldest

  alignas(64) base::atomic<std::int64_t> top_{0};
  alignas(64) base::atomic<std::int64_t> bottom_{0};
  std::uintptr_t* own_cells_ = nullptr;
  std::int64_t mask_ = 0;
  std::int64_t last_free_ = 0;  // up to here cells may be written: a lower bound, since top never goes back
  bool counted_ = false;
  base::atomic<ring*> ring_{nullptr};
  ring* rings_ = nullptr;  // the newest, which names those before it
};

}  // namespace plait::sched
