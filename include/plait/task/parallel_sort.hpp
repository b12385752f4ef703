// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/functional.hpp>
#include <plait/base/sort.hpp>
#include <plait/task/splitting.hpp>

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// A sort: lies in the frame of the task that was asked for, for all its parts.
template <class It, class Compare>
struct parallel_sorting {
  using quicksort = base::quicksort<It, Compare>;
  using step = typename quicksort::step;

  Compare less;
  std::iter_difference_t<It> grain;
  thrown_in_parts thrown{};

  /// One step of a large range, all of a small one. Nothing is left to do after an exception.
  step divide(It first, It last, int patience) noexcept {
    if (!thrown.ends_before(0)) {
      try {
        if (last - first > grain) return quicksort(less).divide(first, last, patience);
        quicksort(less).sort(first, last, patience);
      } catch (...) {
        thrown.record(0);
      }
    }
    return {first, last, patience, true};
  }
};

template <class Sorting, class It>
task<void> sort_part(Sorting& all, It first, It last, int patience) {
  for (;;) {
    const auto next = all.divide(first, last, patience);
    if (next.done) co_return;
    auto left = co_await fork(sort_part(all, first, next.left_end, next.patience));
    first = next.right_begin;
    patience = next.patience;
    if (!left.done()) {  // somebody helps: both sides are sorted side by side
      co_await sort_part(all, first, last, patience);
      co_return co_await left;
    }
    co_await left;
  }
}

template <class It, class Compare>
task<void> run_sort(It first, It last, Compare less, parallel_options options) {
  using sorting = parallel_sorting<It, Compare>;
  using difference = std::iter_difference_t<It>;
  constexpr std::size_t automatic = 1024;  // some 20 microseconds for numbers
  const auto grain = options.grain != 0 ? options.grain : automatic;
  const auto length = static_cast<std::size_t>(last - first);
  sorting all{std::move(less), static_cast<difference>(grain < length ? grain : length)};
  try {
    co_await sort_part(all, first, last, sorting::quicksort::patience_for(last - first));
  } catch (...) {  // no memory for another part
    all.thrown.record(0);
  }
  all.thrown.rethrow();
}

}  // namespace detail

/// `co_await parallel_sort(first, last, less)` sorts the elements between two random-access iterators on all workers of
/// the pool, by default by operator<. Not stable; n log n comparisons at most, whatever the order before. Elements need
/// be movable only. `less` is kept by value and called in several threads at once. If it throws, one of its exceptions
/// is rethrown when all parts have ended; the elements are then in some order, none is lost. options.grain: how many
/// elements one worker sorts by itself; 0: 1,024. The elements must lie still until the task has ended.
template <std::random_access_iterator It, class Compare = std::less<>>
  requires std::is_invocable_v<Compare&, std::iter_reference_t<It>, std::iter_reference_t<It>> task<void> parallel_sort(
      It first, It last, Compare less = {}, parallel_options options = {}) {
    static_assert(std::is_lvalue_reference_v<std::iter_reference_t<It>>,
                  "plait: parallel_sort needs iterators to elements that are objects of their own, not to proxies such "
                  "as those of std::vector<bool>");
    if constexpr (std::contiguous_iterator<It>) {
      return detail::run_sort(std::to_address(first), std::to_address(last), std::move(less), options);
    } else {
      return detail::run_sort(std::move(first), std::move(last), std::move(less), options);
    }
  }

/// The same for a random-access range, which must live until the task has ended.
template <detail::loop_range R, class Compare = std::less<>>
  requires(!std::random_access_iterator<std::remove_cvref_t<R>>)
task<void> parallel_sort(R&& range, Compare less = {}, parallel_options options = {}) {
  static_assert(std::is_lvalue_reference_v<R> || std::is_trivially_destructible_v<std::remove_cvref_t<R>>,
                "plait: parallel_sort got a temporary range, which would be gone when the task runs");
  return parallel_sort(std::begin(range), std::end(range), std::move(less), options);
}

}  // namespace plait
