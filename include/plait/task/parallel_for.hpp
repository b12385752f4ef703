// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/splitting.hpp>

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// A loop: lies in the frame of the task that was asked for, for all its parts.
template <class I, class Body>
struct parallel_loop {
  static constexpr bool awaits = is_task<std::invoke_result_t<Body&, loop_element_t<I>>>;

  I first;
  Body body;
  thrown_in_parts thrown{};

  /// A body that is a plain function, from one position to another.
  void run(std::uint64_t from, std::uint64_t to) noexcept {
    auto at = position_at(first, from);
    try {
      with_local_copy(body, [&at, end = position_at(first, to)](auto& f) {
        for (; at != end; ++at) static_cast<void>(f(element_at(at)));
      });
    } catch (...) {
      thrown.record(offset_of(first, at));
    }
  }
};

/// A part of a loop over a plain function.
template <class Loop>
task<void> run_part(Loop& loop, std::uint64_t first, std::uint64_t last, chunk_size chunk) {
  for (;;) {
    first = work_through(loop.thrown, first, last, chunk, [&loop](auto from, auto to) { loop.run(from, to); });
    if (first == last) co_return;
    const auto middle = chunk.middle(first, last);
    auto left = co_await fork(run_part(loop, first, middle, chunk));
    if (!left.done()) {  // somebody helps: the halves run side by side
      co_await run_part(loop, middle, last, chunk);
      co_return co_await left;
    }
    co_await left;
    first = middle;
  }
}

/// A part of a loop over a body that is awaited.
template <class Loop>
task<void> await_part(Loop& loop, std::uint64_t first, std::uint64_t last, std::uint64_t grain) {
  const chunk_size chunk(grain);
  while (first != last) {
    if (last - first > grain && should_split()) {
      const auto middle = chunk.middle(first, last);
      auto left = co_await fork(await_part(loop, first, middle, grain));
      if (!left.done()) {
        co_await await_part(loop, middle, last, grain);
        co_return co_await left;
      }
      co_await left;
      first = middle;
      continue;
    }
    for (const auto stop = last - first > grain ? first + grain : last; first != stop; ++first) {
      if (loop.thrown.ends_before(first)) co_return;
      auto at = position_at(loop.first, first);
      try {
        co_await loop.body(element_at(at));
      } catch (...) {
        loop.thrown.record(first);
      }
    }
  }
}

template <class I, class Body>
task<void> run_loop(I first, std::uint64_t length, Body body, parallel_options options) {
  using loop_type = parallel_loop<I, Body>;
  loop_type loop{std::move(first), std::move(body)};
  try {
    if constexpr (loop_type::awaits) {
      co_await await_part(loop, 0, length, options.grain != 0 ? options.grain : 1);
    } else {
      chunk_size chunk(options.grain);
      const auto at = work_through(loop.thrown, 0, length, chunk, [&loop](auto from, auto to) { loop.run(from, to); });
      if (at != length) co_await run_part(loop, at, length, chunk);
    }
  } catch (...) {  // no memory for another part
    loop.thrown.record(length - 1);
  }
  loop.thrown.rethrow();
}

/// Contiguous elements by pointers: one loop for all kinds of iterators.
template <class I, class J, class Body>
task<void> start_loop(I first, J last, Body&& body, parallel_options options) {
  const auto length = loop_length(first, last);
  if constexpr (std::contiguous_iterator<I>) {
    return run_loop(std::to_address(first), length, std::decay_t<Body>(std::forward<Body>(body)), options);
  } else if constexpr (loop_integer<I>) {
    return run_loop(static_cast<std::common_type_t<I, J>>(first), length, std::decay_t<Body>(std::forward<Body>(body)),
                    options);
  } else {
    return run_loop(std::move(first), length, std::decay_t<Body>(std::forward<Body>(body)), options);
  }
}

template <class R, class Body>
task<void> run_loop_of_range(R range, Body body, parallel_options options) {
  co_await start_loop(std::begin(range), std::end(range), std::move(body), options);
}

}  // namespace detail

/// `co_await parallel_for(first, last, body)`: calls body(i) for all integers i from first up to, without, last, or
/// body(*i) for random-access iterators, on all workers of the pool; a body that gives a task is awaited. Iterations
/// run in any order, several at once, and none may wait for another; on one worker they run in order. `body` is kept by
/// value, and may be copied where its type is trivially copyable. All have ended when it resumes. If some threw, the
/// exception of the lowest position is rethrown, and positions above it may have been left out. An empty or negative
/// range does nothing. options.grain: iterations that stay together; 0: as many as take some microseconds (one, if the
/// body is awaited). Throws plait::error for a range from a negative to an unsigned number.
template <detail::loop_position I, class J, class Body>
  requires((detail::loop_integer<I> && detail::loop_integer<J>) ||
           (std::random_access_iterator<I> && std::sized_sentinel_for<J, I>))
task<void> parallel_for(I first, J last, Body&& body, parallel_options options = {}) {
  return detail::start_loop(std::move(first), std::move(last), std::forward<Body>(body), options);
}

/// The same for the elements of a random-access range. One given by name must live until the task has ended; a
/// temporary is kept.
template <detail::loop_range R, class Body>
task<void> parallel_for(R&& range, Body&& body, parallel_options options = {}) {
  if constexpr (std::is_lvalue_reference_v<R>) {
    return detail::start_loop(std::begin(range), std::end(range), std::forward<Body>(body), options);
  } else {
    return detail::run_loop_of_range<std::remove_cvref_t<R>, std::decay_t<Body>>(std::move(range),
                                                                                 std::forward<Body>(body), options);
  }
}

}  // namespace plait
