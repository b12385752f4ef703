// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/splitting.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// A reduction: lies in the frame of the task that was asked for, for all its parts. The total of a part is empty where
/// there was nothing, or where something was thrown.
template <class I, class T, class Map, class Combine>
struct reduction {
  I first;
  Map map;
  Combine combine;
  thrown_in_parts thrown{};

  /// Appends what the positions give to a total.
  void append(std::optional<T>& total, std::uint64_t from, std::uint64_t to) noexcept {
    auto at = position_at(first, from);
    try {
      const auto end = position_at(first, to);
      if (!total && at != end) {
        total.emplace(map(element_at(at)));
        ++at;
      }
      with_local_copy(map, [&](auto& mapping) {
        with_local_copy(combine, [&](auto& combining) {
          T sum = std::move(*total);
          for (; at != end; ++at) sum = combining(std::move(sum), mapping(element_at(at)));
          *total = std::move(sum);
        });
      });
    } catch (...) {
      thrown.record(offset_of(first, at));
    }
  }

  /// Appends the total of what follows, which begins at this position.
  void join(std::optional<T>& total, std::optional<T> next, std::uint64_t from) noexcept {
    if (!next) return;
    try {
      if (total) {
        *total = combine(std::move(*total), std::move(*next));
      } else {
        total = std::move(next);
      }
    } catch (...) {
      thrown.record(from);
    }
  }
};

/// A part that is cut where somebody may want some of it.
template <class R, class T>
task<std::optional<T>> reduce_part(R& all, std::uint64_t first, std::uint64_t last, chunk_size chunk,
                                   std::optional<T> total) {
  for (;;) {
    first = work_through(all.thrown, first, last, chunk,
                         [&all, &total](auto from, auto to) { all.append(total, from, to); });
    if (first == last) co_return std::move(total);
    const auto middle = chunk.middle(first, last);
    auto left = co_await fork(reduce_part(all, first, middle, chunk, std::optional<T>()));
    if (!left.done()) {  // somebody helps: the halves run side by side
      auto right = co_await reduce_part(all, middle, last, chunk, std::optional<T>());
      all.join(total, co_await left, first);
      all.join(total, std::move(right), middle);
      co_return std::move(total);
    }
    all.join(total, co_await left, first);
    first = middle;
  }
}

/// A part whose tree depends on the range and the grain only.
template <class R, class T>
task<std::optional<T>> reduce_tree(R& all, std::uint64_t first, std::uint64_t last, chunk_size chunk,
                                   std::optional<T> total) {
  if (all.thrown.ends_before(first)) co_return std::move(total);
  if (last - first <= chunk.now()) {
    all.append(total, first, last);
    co_return std::move(total);
  }
  const auto middle = chunk.middle(first, last);
  if (should_split()) {
    auto left = co_await fork(reduce_tree(all, first, middle, chunk, std::optional<T>()));
    auto right = co_await reduce_tree(all, middle, last, chunk, std::optional<T>());
    total = co_await left;
    all.join(total, std::move(right), middle);
  } else {
    total = co_await reduce_tree(all, first, middle, chunk, std::optional<T>());
    auto right = co_await reduce_tree(all, middle, last, chunk, std::optional<T>());
    all.join(total, std::move(right), middle);
  }
  co_return std::move(total);
}

template <class I, class T, class Map, class Combine>
task<T> run_reduction(I first, std::uint64_t length, T init, Map map, Combine combine, parallel_options options) {
  using value = std::invoke_result_t<Map&, loop_element_t<I>>;
  static_assert(std::movable<T>, "plait: what parallel_reduce combines must be movable");
  static_assert(
      std::is_constructible_v<T, value>,
      "plait: parallel_reduce combines values of the type of init; map gives one that does not convert to it");
  static_assert(!(std::is_integral_v<T> && std::is_floating_point_v<std::remove_cvref_t<value>>),
                "plait: parallel_reduce combines values of the type of init, an integer here, and map gives floating "
                "point numbers: write 0.0 in place of 0");
  static_assert(std::is_assignable_v<T&, std::invoke_result_t<Combine&, T, T>>,
                "plait: combine(T, T) of parallel_reduce must give a T, the type of init");
  if (length == 0) co_return std::move(init);
  reduction<I, T, Map, Combine> all{std::move(first), std::move(map), std::move(combine)};
  std::optional<T> total;
  try {
    const chunk_size chunk(options.grain);
    if (options.grain != 0) {
      total = co_await reduce_tree(all, 0, length, chunk, std::optional<T>());
    } else {
      total = co_await reduce_part(all, 0, length, chunk, std::optional<T>());
    }
  } catch (...) {  // no memory for another part
    all.thrown.record(length - 1);
  }
  all.thrown.rethrow();
  co_return all.combine(std::move(init), std::move(*total));
}

template <class I, class J, class T, class Map, class Combine>
auto start_reduction(I first, J last, T init, Map map, Combine combine, parallel_options options) {
  const auto length = loop_length(first, last);
  if constexpr (std::contiguous_iterator<I>) {
    return run_reduction(std::to_address(first), length, std::move(init), std::move(map), std::move(combine), options);
  } else if constexpr (loop_integer<I>) {
    return run_reduction(static_cast<std::common_type_t<I, J>>(first), length, std::move(init), std::move(map),
                         std::move(combine), options);
  } else {
    return run_reduction(std::move(first), length, std::move(init), std::move(map), std::move(combine), options);
  }
}

template <class R, class T, class Map, class Combine>
task<T> run_reduction_of_range(R range, T init, Map map, Combine combine, parallel_options options) {
  co_return co_await start_reduction(std::begin(range), std::end(range), std::move(init), std::move(map),
                                     std::move(combine), options);
}

}  // namespace detail

/// `co_await parallel_reduce(first, last, init, map, combine)` gives combine(init, combine(map(first), ...)), where
/// map(i) is called for all integers i from first up to, without, last, or map(*i) for random-access iterators, on all
/// workers of the pool. All values have init's type T, which may be move-only. combine(T, T) gets its operands in the
/// order of the range, so it need be associative only; which of them it combines first depends, with options.grain > 0,
/// on the length and the grain alone: the result is then the same, to the last bit, on any number of workers. With
/// grain 0 it also depends on who helps when. map and combine are called in several threads at once; both are kept by
/// value, and may be copied where their types are trivially copyable. If some threw, the exception of the lowest
/// position is rethrown when all parts have ended. An empty or negative range gives init.
template <detail::loop_position I, class J, class T, class Map, class Combine>
  requires((detail::loop_integer<I> && detail::loop_integer<J>) ||
           (std::random_access_iterator<I> && std::sized_sentinel_for<J, I>))
task<T> parallel_reduce(I first, J last, T init, Map map, Combine combine, parallel_options options = {}) {
  return detail::start_reduction(std::move(first), std::move(last), std::move(init), std::move(map), std::move(combine),
                                 options);
}

/// The same for the elements of a random-access range. One given by name must live until the task has ended; a
/// temporary is kept.
template <detail::loop_range R, class T, class Map, class Combine>
task<T> parallel_reduce(R&& range, T init, Map map, Combine combine, parallel_options options = {}) {
  if constexpr (std::is_lvalue_reference_v<R>) {
    return detail::start_reduction(std::begin(range), std::end(range), std::move(init), std::move(map),
                                   std::move(combine), options);
  } else {
    return detail::run_reduction_of_range<std::remove_cvref_t<R>>(std::move(range), std::move(init), std::move(map),
                                                                  std::move(combine), options);
  }
}

}  // namespace plait
