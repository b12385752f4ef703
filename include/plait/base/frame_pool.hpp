// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/large_pages.hpp>
#include <plait/base/thread_slot.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

// Memory for coroutine frames and submitted tasks: free lists by size class, one set a thread, and a global depot
// through which lists travel in batches when frames are made in one thread and die in another. Nothing is given back to
// the system. Under AddressSanitizer every frame is its own allocation, so that a use after its end is found.

PLAIT_INTERFACE

namespace plait::base {

inline constexpr std::size_t frame_grain = 64;    // a cache line: neighbours die in different threads
inline constexpr std::size_t frame_classes = 33;  // sizes up to 2,048 bytes; class 0 is not used
inline constexpr std::uint32_t frame_batch = 64;

struct free_frame {
  free_frame* next;
};

// Compilers take frames to be aligned for whatever lies in them, a vector of four doubles too.
PLAIT_NOINLINE inline void* allocate_aligned(std::size_t size) {
  return ::operator new (size, std::align_val_t{frame_grain});
}
PLAIT_NOINLINE inline void release_aligned(void* memory, std::size_t size) noexcept {
  ::operator delete (memory, size, std::align_val_t{frame_grain});
}

struct frame_list {
  free_frame* head = nullptr;
  std::uint32_t count = 0;
};

/// Where full lists wait for a thread that needs frames. Outlives every pool and thread.
class frame_depot {
 public:
  static PLAIT_EXPORT frame_depot& instance() {
    static frame_depot* depot = new frame_depot;  // never destroyed: threads may end after static destructors
    return *depot;
  }

  /// A list of frames of the class that is not empty, cut from a fresh slab if none waits.
  frame_list take(std::size_t size_class) {
    const std::lock_guard lock(mutex_);
    auto* waiting = lists_[size_class];
    if (waiting == nullptr) return carve(size_class);
    lists_[size_class] = waiting->below;
    const auto count = waiting->count;
    auto* next = waiting->next;
    return {::new (waiting) free_frame{next}, count};
  }

  /// list: not empty.
  void give(std::size_t size_class, frame_list list) noexcept {
    const std::lock_guard lock(mutex_);
    auto* next = list.head->next;
    lists_[size_class] = ::new (list.head) waiting_list{{next}, lists_[size_class], list.count};
  }

  /// Bytes taken from the system so far.
  std::size_t reserved_bytes() {
    const std::lock_guard lock(mutex_);
    return slabs_bytes_;
  }

 private:
  /// The first frame of a list that waits here also says which list waits below it.
  struct waiting_list : free_frame {
    waiting_list* below;
    std::uint32_t count;
  };
  static_assert(sizeof(waiting_list) <= frame_grain);

  struct slab {
    slab* before;
  };

  frame_list carve(std::size_t size_class) {
    const std::size_t size = size_class * frame_grain;
    if (static_cast<std::size_t>(rest_end_ - rest_) < size * frame_batch) take_slab(size * frame_batch);
    auto* memory = base::exchange(rest_, rest_ + size * frame_batch);
    free_frame* list = nullptr;
    for (std::size_t i = frame_batch; i-- > 0;) list = ::new (memory + i * size) free_frame{list};
    return {list, frame_batch};
  }

  /// Slabs grow with what there is already.
  void take_slab(std::size_t least) {
    std::size_t bytes = frame_grain + least;
    if (slabs_bytes_ / 4 > bytes) bytes = slabs_bytes_ / 4;
    if (bytes >= large_page)
      bytes = (bytes < 32 * large_page ? bytes + large_page - 1 : 32 * large_page) & ~(large_page - 1);
    rest_ = static_cast<std::byte*>(allocate_slab(bytes));
    rest_end_ = rest_ + bytes;
    slabs_bytes_ += bytes;
    slabs_ = ::new (rest_) slab{slabs_};  // keeps it reachable for leak checkers
    rest_ += frame_grain;
  }

  std::byte* rest_ = nullptr;  // what is left of the newest slab
  std::byte* rest_end_ = nullptr;
  std::mutex mutex_;
  waiting_list* lists_[frame_classes]{};
  slab* slabs_ = nullptr;
  std::size_t slabs_bytes_ = 0;
};

/// The free lists of one thread.
class frame_cache {
 public:
  PLAIT_ALWAYS_INLINE void* allocate(std::size_t size_class) {
    auto& list = lists_[size_class];
    auto* const frame = list.head;
    if (frame == nullptr) [[unlikely]]
      return allocate_first(size_class);
    list.head = frame->next;
    --list.count;
    return frame;
  }

  PLAIT_ALWAYS_INLINE void release(void* frame, std::size_t size_class) noexcept {
    auto& list = lists_[size_class];
    const auto count = list.count;
    if (count >= full) [[unlikely]]
      return release_beyond(frame, size_class);
    list.head = ::new (frame) free_frame{list.head};
    list.count = count + 1;
  }

  /// What a thread has before its first frame and after its end: lists that give nothing and take nothing.
  struct nothing_t {};
  constexpr explicit frame_cache(nothing_t) noexcept {
    for (auto& list : lists_) list.count = full;
  }

 private:
  struct owner;
  static constexpr std::uint32_t full = 2 * frame_batch - 1;

  constexpr frame_cache() noexcept = default;

  /// The running thread's own lists, made at its first frame and given to the depot at its end.
  static frame_cache& of_this_thread();

  PLAIT_NOINLINE static void* allocate_first(std::size_t size_class) {
    auto& mine = of_this_thread();
    mine.lists_[size_class] = frame_depot::instance().take(size_class);
    return mine.allocate(size_class);
  }

  PLAIT_NOINLINE static void release_beyond(void* frame, std::size_t size_class) noexcept {
    auto& mine = of_this_thread();
    auto& list = mine.lists_[size_class];
    if (list.count >= full) mine.return_batch(size_class);
    mine.release(frame, size_class);
  }

  void return_batch(std::size_t size_class) noexcept {
    auto& list = lists_[size_class];
    auto* first = list.head;
    auto* last = first;
    for (std::uint32_t i = 1; i < frame_batch; ++i) last = last->next;
    list.head = base::exchange(last->next, nullptr);
    list.count -= frame_batch;
    frame_depot::instance().give(size_class, {first, frame_batch});
  }

  void flush() noexcept {
    for (std::size_t c = 0; c < frame_classes; ++c) {
      if (lists_[c].head != nullptr) frame_depot::instance().give(c, base::exchange(lists_[c], frame_list{}));
    }
  }

  frame_list lists_[frame_classes]{};
};

/// Never written: see frame_cache::nothing_t.
inline constinit frame_cache no_frames{frame_cache::nothing_t{}};

}  // namespace plait::base

extern "C" {
/// The thread's free lists of coroutine frames.
[[gnu::used]] PLAIT_EXPORT inline constinit thread_local plait::base::frame_cache* plait_thread_frames =
    &plait::base::no_frames;
}

namespace plait::base {

#if defined(__x86_64__) && defined(__linux__) && defined(__LP64__)
/// The thread's frame lists; safe to call in a coroutine body: see thread_slot.hpp.
PLAIT_ALWAYS_INLINE frame_cache& thread_frames() noexcept {
  frame_cache* value;
  asm volatile("movq plait_thread_frames@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value));
  return *value;
}
#else
PLAIT_NOINLINE inline frame_cache& thread_frames() noexcept {
  asm volatile("");
  return *plait_thread_frames;
}
#endif

/// Gives the lists back when the thread ends. What dies later, in destructors of other thread_local objects, goes to
/// new lists, which the depot does not get back.
struct frame_cache::owner {
  frame_cache* cache = new frame_cache;  // not part of the thread's storage, of which plugins get little
  ~owner() {
    plait_thread_frames = &no_frames;
    cache->flush();
    delete base::exchange(cache, nullptr);
  }
};

PLAIT_NOINLINE inline frame_cache& frame_cache::of_this_thread() {
  static thread_local owner lists;
  if (lists.cache == nullptr) lists.cache = new frame_cache;  // the thread is ending
  plait_thread_frames = lists.cache;
  return *lists.cache;
}

/// Memory for an object of `size` bytes, aligned to 64. Throws std::bad_alloc.
PLAIT_ALWAYS_INLINE void* allocate_frame(std::size_t size) {
#if PLAIT_ASAN
  return allocate_aligned(size);
#else
  const std::size_t size_class = (size + frame_grain - 1) / frame_grain;
  if (size_class >= frame_classes) [[unlikely]]
    return allocate_aligned(size);
  return thread_frames().allocate(size_class);
#endif
}

/// Gives back what allocate_frame(size) returned, in any thread.
PLAIT_ALWAYS_INLINE void release_frame(void* frame, std::size_t size) noexcept {
#if PLAIT_ASAN
  release_aligned(frame, size);
#else
  const std::size_t size_class = (size + frame_grain - 1) / frame_grain;
  if (size_class >= frame_classes) [[unlikely]]
    return release_aligned(frame, size);
  thread_frames().release(frame, size_class);
#endif
}

/// A base of objects that are made by new in such memory.
struct in_frame_memory {
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { release_frame(memory, size); }
};

}  // namespace plait::base
