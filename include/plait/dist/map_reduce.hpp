// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/map.hpp>
#include <plait/dist/queries.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Reduces the results of a chunk. All inputs are called; then the first exception, if any, leaves.
template <auto F, auto Op, class A>
task<A> reduce_chunk(std::vector<map_input<F>> inputs) {
  auto results = co_await map_chunk<F>(std::move(inputs));
  A all(std::move(results.front()));
  for (std::size_t i = 1; i < results.size(); ++i) all = std::invoke(Op, std::move(all), A(std::move(results[i])));
  co_return all;
}

template <auto F, auto Op, class A>
task<A> reduce_part(std::vector<map_input<F>> inputs, std::size_t chunk, int spread);

/// reduce_part as what is submitted: its name is that of F.
template <auto F, auto Op, class A>
struct reduce_callable {
  using traits = signature<task<A>(std::vector<map_input<F>>, std::size_t, int)>;
  using tag = reduction_of<F, Op, A>;
  static auto call(std::vector<map_input<F>> inputs, std::size_t chunk, int spread) {
    return reduce_part<F, Op, A>(std::move(inputs), chunk, spread);
  }
};

/// The same for any number of inputs but 0: a half is a task of its own, which may go to another rank as a whole, so
/// results are joined where they are. spread: how many halves are still to be dealt out to the workers of all ranks.
template <auto F, auto Op, class A>
task<A> reduce_part(std::vector<map_input<F>> inputs, std::size_t chunk, int spread) {
  if (inputs.size() <= chunk) co_return co_await reduce_chunk<F, Op, A>(std::move(inputs));
  const auto chunks = (inputs.size() + chunk - 1) / chunk;
  const auto middle = inputs.begin() + static_cast<std::ptrdiff_t>(chunks / 2 * chunk);
  std::vector<map_input<F>> rest(std::make_move_iterator(middle), std::make_move_iterator(inputs.end()));
  inputs.erase(middle, inputs.end());
  auto right =
      submit_callable<reduce_callable<F, Op, A>>(spread > 1 ? cyclic : anywhere, std::move(rest), chunk, spread / 2);
  std::optional<A> left;
  std::exception_ptr first;
  try {
    left.emplace(co_await reduce_part<F, Op, A>(std::move(inputs), chunk, spread - spread / 2));
  } catch (...) {
    first = std::current_exception();
  }
  co_await plait::detail::end_of(right);
  if (first) {
    right.exception();  // seen: the left one comes first
    std::rethrow_exception(first);
  }
  co_return std::invoke(Op, std::move(*left), co_await right);
}

template <auto F, auto Op, class A, class R>
task<A> map_reduce_range(map_options options, A init, R range) {
  auto inputs = zipped<F, R>(range).take(static_cast<std::size_t>(-1));
  if (inputs.empty()) co_return init;
  const auto chunk = chunk_of(options, inputs.size());
  auto all = co_await reduce_part<F, Op, A>(std::move(inputs), chunk, plait::num_workers());
  co_return std::invoke(Op, std::move(init), std::move(all));
}

}  // namespace dist

/// `co_await map_reduce<f, op>(range, init, {.chunk = n})` gives init op f(a) op f(b) op ... of the elements of a
/// range, in their order, with the type of init. op(A, A) must be associative, since results are joined where they are,
/// in a tree over all ranks; chunks of n inputs are its leaves (window and progress have no meaning here). It owns an
/// rvalue range and copies an lvalue one. All inputs are called; then the first exception in input order is rethrown.
template <auto F, auto Op, std::ranges::input_range R, class A>
task<std::decay_t<A>> map_reduce(R&& range, A&& init, map_options options = {}) {
  using result = std::decay_t<A>;
  static_assert(dist::check_map<F>(1), "plait: map_reduce takes a function of one parameter");
  static_assert(std::is_convertible_v<dist::map_value<F>, result>,
                "plait: map_reduce needs results of f that convert to the type of init");
  static_assert(std::is_invocable_r_v<result, decltype(Op), result, result>,
                "plait: map_reduce needs an op that takes two values of the type of init, and gives one");
  check_transferable<result>();
  return dist::map_reduce_range<F, Op, result, std::decay_t<R>>(options, std::forward<A>(init), std::forward<R>(range));
}

}  // namespace PLAIT_DIST
}  // namespace plait
