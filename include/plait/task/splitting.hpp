// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/exchange.hpp>
#include <plait/base/mutex.hpp>
#include <plait/task/fork.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <mutex>
#include <type_traits>
#include <utility>

// std::to_address without the rest of <memory>; libstdc++ has it in a header of its own.
#if __has_include(<bits/ptr_traits.h>)
#include <bits/ptr_traits.h>
#else
#include <memory>
#endif

// How the parallel algorithms cut their ranges. A part of a range is a coroutine that works through it in chunks and
// looks between two chunks whether its worker's deques offer anything to thieves. Only if they don't, it forks one half
// of what is left and offers the other (lazy binary splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010). So a loop
// that nobody helps with is cut log(n) times, and one within a loop hardly ever.

PLAIT_INTERFACE

namespace plait {

/// How a parallel algorithm cuts its range.
struct parallel_options {
  std::size_t grain = 0;  ///< what is not cut up any more, in iterations or elements; 0: found while it runs
};
static_assert(std::is_trivially_destructible_v<parallel_options>);

namespace detail {

/// Integers and iterators that a loop can run over. Positions in it are counted from its first.
template <class I>
concept loop_integer = std::integral<I> && !std::same_as<I, bool> && sizeof(I) <= sizeof(std::uint64_t);
template <class I>
concept loop_position = loop_integer<I> || std::random_access_iterator<I>;

template <class R>
concept loop_range = requires(R& r) {
  { std::begin(r) } -> std::random_access_iterator;
  { std::end(r) - std::begin(r) } -> std::convertible_to<std::iter_difference_t<decltype(std::begin(r))>>;
};
template <loop_range R>
using range_position_t = decltype(std::begin(std::declval<R&>()));

template <loop_position I>
constexpr I position_at(const I& first, std::uint64_t offset) {
  if constexpr (loop_integer<I>) {
    return static_cast<I>(static_cast<std::uint64_t>(first) + offset);  // modulo 2^64: right for negative ones too
  } else {
    return first + static_cast<std::iter_difference_t<I>>(offset);
  }
}
template <loop_position I>
constexpr std::uint64_t offset_of(const I& first, const I& at) {
  if constexpr (loop_integer<I>) {
    return static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(first);
  } else {
    return static_cast<std::uint64_t>(at - first);
  }
}
/// What the body of a loop gets: the number, or the element.
template <loop_position I>
constexpr decltype(auto) element_at(I& at) {
  if constexpr (loop_integer<I>) {
    return I(at);
  } else {
    return *at;
  }
}
template <class I>
using loop_element_t = decltype(element_at(std::declval<I&>()));

/// How many positions lie from first to last: 0 if there are none.
template <class I, class J>
std::uint64_t loop_length(const I& first, const J& last) {
  if constexpr (loop_integer<I>) {
    if (!std::cmp_less(first, last)) return 0;
    if constexpr (std::unsigned_integral<std::common_type_t<I, J>>) {
      if (std::cmp_less(first, 0))
        throw error("plait: a parallel algorithm got a range from a negative number to an unsigned one; convert one");
    }
    return static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  } else {
    const auto length = last - first;
    return length > 0 ? static_cast<std::uint64_t>(length) : 0;
  }
}

/// What was thrown in the parts of a range. As in a loop that runs in order, the exception of the lowest position
/// counts: whoever is above it may stop, whoever is below it goes on and may find a lower one.
class thrown_in_parts {
 public:
  /// Whether what begins at this position is no longer needed.
  bool ends_before(std::uint64_t at) const noexcept {
    return at >= lowest_.load(std::memory_order_relaxed);  // a hint: rethrow comes after the parts have ended
  }
  /// Keeps the exception that is being handled, thrown at this position.
  PLAIT_NOINLINE void record(std::uint64_t at) noexcept {
    const std::lock_guard lock(mutex_);
    if (ends_before(at)) return;
    error_ = std::current_exception();
    lowest_.store(at, std::memory_order_relaxed);  // as above
  }
  /// When all parts have ended.
  void rethrow() {
    if (error_) std::rethrow_exception(base::exchange(error_, nullptr));
  }

 private:
  base::atomic<std::uint64_t> lowest_{~std::uint64_t{0}};
  base::mutex mutex_;
  std::exception_ptr error_;
};

/// Calls go(callable) with one that the loop may call best: a local copy, which the compiler can keep in registers
/// since no store of the loop can reach it, where copying cannot be told from not copying.
template <class F, class Go>
PLAIT_ALWAYS_INLINE void with_local_copy(F& f, Go go) {
  if constexpr (std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F> && sizeof(F) <= 64) {
    F copy(f);
    go(copy);
  } else {
    go(f);
  }
}

/// Whether the worker has nothing that others could take from it: one of them may be looking for work.
PLAIT_ALWAYS_INLINE bool offers_nothing(const worker& w) noexcept { return !w.own.offers() && !w.submitted.offers(); }

/// The calling worker, if there are others in its pool, else null.
inline worker* worker_with_others() noexcept {
  auto* w = worker::of_this_thread();
  return w != nullptr && w->home().size() > 1 ? w : nullptr;
}
/// Whether a part should be cut now.
PLAIT_NOINLINE inline bool should_split() noexcept {
  const auto* w = worker_with_others();
  return w != nullptr && offers_nothing(*w);
}

/// The size of chunks: as asked for, or such that a chunk takes some microseconds, by what the last ones took. The look
/// between two chunks is then of no account, and what is left at the end for one worker alone is short.
class chunk_size {
  using clock = std::chrono::steady_clock;

 public:
  explicit chunk_size(std::uint64_t grain) noexcept : size_(grain != 0 ? grain : 1), fixed_(grain != 0) {}

  std::uint64_t now() const noexcept { return size_; }
  void start() noexcept {
    if (!fixed_) before_ = base::now();
  }
  /// A chunk of the present size has been done.
  void adapt() noexcept {
    if (fixed_) return;
    const auto at = base::now();
    const auto took = at - before_;
    before_ = at;
    if (took < shortest / 8) {
      size_ *= 8;
    } else if (took < shortest) {
      size_ *= 2;
    } else if (took > 4 * shortest) {
      const auto times = static_cast<std::uint64_t>(took / (2 * shortest));
      size_ = size_ > times ? size_ / times : 1;
    }
    if (size_ > largest) size_ = largest;
  }
  /// Where to cut: in the middle, at a multiple of the size.
  std::uint64_t middle(std::uint64_t first, std::uint64_t last) const noexcept {
    const auto half = (last - first) / 2;
    const auto rest = half % size_;
    return first + (rest == 0 ? half : half - rest + size_);
  }

 private:
  static constexpr std::chrono::nanoseconds shortest{10000};
  static constexpr std::uint64_t largest = std::uint64_t{1} << 32;

  std::uint64_t size_;
  bool fixed_;
  clock::time_point before_;
};

/// Works through a range, in chunks, by run(first, last), until it ends or should be cut. Gives where it has stopped.
template <class Run>
std::uint64_t work_through(const thrown_in_parts& thrown, std::uint64_t first, std::uint64_t last, chunk_size& chunk,
                           Run run) {
  const auto* w = worker_with_others();
  if (w == nullptr) {
    if (first != last && !thrown.ends_before(first)) run(first, last);
    return last;
  }
  for (chunk.start(); first != last && !thrown.ends_before(first); chunk.adapt()) {
    if (last - first <= chunk.now()) {
      run(first, last);
      break;
    }
    if (offers_nothing(*w)) return first;
    const auto stop = first + chunk.now();
    run(first, stop);
    first = stop;
  }
  return last;
}

}  // namespace detail
}  // namespace plait
