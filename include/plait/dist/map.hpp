// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/fifo.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/ranges.hpp>
#include <plait/dist/queries.hpp>
#include <plait/dist/submit.hpp>
#include <plait/task/as_completed.hpp>
#include <plait/task/progress_bar.hpp>
#include <plait/task/when_all.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// What map does with its progress: nothing (false), a progress_bar that bears the function's name (true), or a call of
/// a function, by the mapping task whenever another chunk is done, with the number of inputs that are, and of all (0: a
/// range does not know).
class map_progress {
 public:
  using function = void (*)(std::size_t done, std::size_t total);
  template <class Shown>
    requires std::is_same_v<Shown, bool>
  constexpr map_progress(Shown shown) noexcept : shown_(shown) {}
  template <class F>
    requires(std::is_convertible_v<F, function> && !std::is_same_v<F, bool>)
  constexpr map_progress(F f) noexcept : call_(f) {}

  bool shown() const noexcept { return shown_; }
  function call() const noexcept { return call_; }

 private:
  function call_ = nullptr;
  bool shown_ = false;
};

/// How map cuts its inputs into tasks.
struct map_options {
  std::size_t chunk = 0;   ///< inputs a task; 0: so many that each worker gets some 64 tasks, at most 4,096
  std::size_t window = 0;  ///< tasks that are under way at once; 0: all
  map_progress progress = false;
};
static_assert(std::is_trivially_destructible_v<map_options>);

namespace dist {

/// Inputs a task, of so many: few enough that the last tasks keep all workers busy.
inline std::size_t chunk_of(const map_options& options, std::size_t inputs) {
  if (options.chunk != 0) return options.chunk;
  constexpr std::size_t tasks_a_worker = 64, most = 4096;
  const std::size_t even = inputs / (tasks_a_worker * static_cast<std::size_t>(num_workers()));
  return even < 1 ? 1 : even > most ? most : even;
}

template <auto F>
using map_value = std::conditional_t<std::is_void_v<typename constant_callable<F>::traits::result>, std::monostate,
                                     typename constant_callable<F>::traits::result>;
template <auto F>
using map_input = typename constant_callable<F>::traits::arguments;

/// Calls F for a chunk of inputs. All are called; then the first exception, if any, leaves.
template <auto F>
task<std::vector<map_value<F>>> map_chunk(std::vector<map_input<F>> inputs) {
  using callable = constant_callable<F>;
  std::vector<map_value<F>> results;
  results.reserve(inputs.size());
  std::exception_ptr first;
  for (auto& input : inputs) {
    try {
      if constexpr (callable::traits::is_coroutine && std::is_void_v<typename callable::traits::result>) {
        co_await call_with<callable>(input);
        results.emplace_back();
      } else if constexpr (callable::traits::is_coroutine) {
        auto value = co_await call_with<callable>(input);
        results.push_back(std::move(value));
      } else if constexpr (std::is_void_v<typename callable::traits::result>) {
        call_with<callable>(input);
        results.emplace_back();
      } else {
        results.push_back(call_with<callable>(input));
      }
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  co_return results;
}

/// map_chunk as what is submitted: its name is that of F.
template <auto F>
struct chunk_callable {
  using traits = signature_of<decltype(&map_chunk<F>)>;
  using tag = chunks_of<F>;
  static auto call(std::vector<map_input<F>> inputs) { return map_chunk<F>(std::move(inputs)); }
};

/// Takes the elements of ranges one after another as argument tuples; the shortest range ends it. R: as for forwarding;
/// what a container holds that is not somebody else's lvalue is moved.
template <auto F, class... R>
class zipped {
 public:
  explicit zipped(std::remove_reference_t<R>&... ranges)
      : at_(std::ranges::begin(ranges)...), end_(std::ranges::end(ranges)...) {}

  bool empty() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return ((std::get<I>(at_) == std::get<I>(end_)) || ...);
    }
    (std::index_sequence_for<R...>{});
  }

  std::vector<map_input<F>> take(std::size_t most) {
    std::vector<map_input<F>> chunk;
    for (; chunk.size() < most && !empty(); advance()) chunk.push_back(current());
    return chunk;
  }

  /// The arguments of one call; there is one.
  map_input<F> current() {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      static_assert(
          converts<map_input<F>, decltype(element<std::tuple_element_t<I, std::tuple<R...>>>(std::get<I>(at_)))...>,
          "plait: map got a range whose elements do not convert to the function's parameter");
      return map_input<F>(element<std::tuple_element_t<I, std::tuple<R...>>>(std::get<I>(at_))...);
    }
    (std::index_sequence_for<R...>{});
  }
  void advance() {
    std::apply([](auto&... i) { (++i, ...); }, at_);
  }

 private:
  template <class Range, class Iterator>
  static decltype(auto) element(Iterator& i) {
    // What our container holds is ours to move from; what a view looks at is not.
    if constexpr (!std::is_lvalue_reference_v<Range> && !std::ranges::view<std::remove_cvref_t<Range>> &&
                  std::is_lvalue_reference_v<decltype(*i)>) {
      return std::move(*i);
    } else {
      return *i;
    }
  }

  std::tuple<std::ranges::iterator_t<R>...> at_;
  std::tuple<std::ranges::sentinel_t<R>...> end_;
};

template <class... R>
std::size_t shortest(R&... ranges) {
  if constexpr ((std::ranges::sized_range<R> && ...)) {
    std::size_t least = static_cast<std::size_t>(-1);
    const auto note = [&least](std::size_t size) { least = size < least ? size : least; };
    (note(static_cast<std::size_t>(std::ranges::size(ranges))), ...);
    return least;
  } else {
    return 0;
  }
}

template <auto F>
consteval bool check_map(std::size_t ranges) {
  check_callable<constant_callable<F>>();
  return ranges == constant_callable<F>::traits::arity;
}

/// Takes the results of chunks as they end and puts them into input order.
template <class V>
class ordered_results {
 public:
  explicit ordered_results(std::size_t total) { results_.reserve(total); }

  /// One more chunk, of so many inputs, has started.
  void expect(std::size_t inputs) { chunks_.push_back({inputs, false, {}}); }
  /// A chunk has ended, whose future is done. Returns the number of inputs of all that have.
  std::size_t put(std::size_t chunk, future<std::vector<V>> done) {
    auto& c = chunks_[chunk];
    c.ended = true;
    try {
      c.results = done.get();
      for (; taken_ < chunks_.size() && chunks_[taken_].ended; ++taken_) {
        auto next = std::move(chunks_[taken_].results);
        for (auto&& result : next) results_.push_back(std::move(result));
      }
    } catch (...) {
      if (chunk < failed_) {
        failed_ = chunk;
        first_ = std::current_exception();
      }
    }
    return inputs_ += c.inputs;
  }
  /// The number of inputs of all chunks that have ended.
  std::size_t inputs() const noexcept { return inputs_; }
  /// After all chunks. Throws the first exception in input order.
  std::vector<V> take() {
    if (first_) std::rethrow_exception(first_);
    return std::move(results_);
  }

 private:
  struct part {
    std::size_t inputs;
    bool ended;
    std::vector<V> results;
  };
  base::growing_array<part> chunks_;
  std::size_t taken_ = 0;  // those before lie in results_
  std::size_t inputs_ = 0;
  std::vector<V> results_;
  std::size_t failed_ = static_cast<std::size_t>(-1);
  std::exception_ptr first_;
};

/// Chunks that have been started. Gives them in any order in which none waits for another, or in that of their start,
/// which costs less.
template <class V>
class started_chunks {
 public:
  explicit started_chunks(bool any_order) {
    if (any_order) by_end_.emplace(std::vector<future<V>>());
  }
  std::size_t count() const noexcept { return by_end_ ? by_end_->left() : by_start_.size(); }
  void add(future<V> f) { by_end_ ? by_end_->add(std::move(f)) : by_start_.push_back(std::move(f)); }
  /// One that has ended; there is one.
  task<completion<V>> next() {
    if (by_end_) co_return std::move(*co_await plait::next(*by_end_));
    auto f = by_start_.pop_front();
    co_await plait::detail::end_of(f);
    co_return completion<V>{given_++, std::move(f)};
  }

 private:
  std::optional<completions<V>> by_end_;
  base::fifo<future<V>> by_start_;
  std::size_t given_ = 0;
};

template <auto F, class... R>
task<std::vector<map_value<F>>> map_ranges(map_options options, R... ranges) {
  using value = map_value<F>;
  zipped<F, R...> inputs(ranges...);
  const std::size_t total = shortest(ranges...);
  const std::size_t chunk = chunk_of(options, total);
  ordered_results<value> results(total);
  std::optional<progress_bar> bar;
  const std::string name = options.progress.shown() ? submitted<chunk_callable<F>>::name() : std::string();
  if (options.progress.shown()) bar.emplace(total, progress_options{name.c_str()});
  const bool observed = options.progress.shown() || options.progress.call() != nullptr;
  started_chunks<std::vector<value>> under_way(options.window != 0 || observed);
  std::exception_ptr stopped;  // what a range, submit or progress threw: nothing more is started
  const auto start_some = [&] {
    while (!inputs.empty() && (options.window == 0 || under_way.count() < options.window)) {
      auto next = inputs.take(chunk);
      const auto count = next.size();
      under_way.add(submit_callable<chunk_callable<F>>(anywhere, std::move(next)));
      results.expect(count);
    }
  };
  const auto unless_stopped = [&stopped](auto&& f) {
    if (stopped) return;
    try {
      f();
    } catch (...) {
      stopped = std::current_exception();
    }
  };
  for (;;) {
    unless_stopped(start_some);
    if (under_way.count() == 0) break;
    auto ended = co_await under_way.next();
    const auto before = results.inputs();
    const auto done = results.put(ended.index, std::move(ended.future));
    if (bar) bar->advance(done - before);
    if (auto* const call = options.progress.call()) unless_stopped([&] { call(done, done > total ? done : total); });
  }
  auto all = results.take();
  if (stopped) std::rethrow_exception(stopped);
  co_return all;
}

}  // namespace dist

/// `co_await map<f>(range, options)` calls f with each element of a range, `options.chunk` of them a task, on all
/// ranks, and gives the vector of results in input order (std::monostate for void). It owns an rvalue range and copies
/// an lvalue one. All tasks end before it resumes; then the first exception in input order is rethrown, or what a
/// range, serialising an input, or `progress` threw, after which no more are started.
template <auto F, std::ranges::input_range R>
  requires(!std::is_same_v<std::remove_cvref_t<R>, map_options>)
task<std::vector<dist::map_value<F>>> map(R&& range, map_options options = {}) {
  static_assert(dist::check_map<F>(1), "plait: map got another number of ranges than the function has parameters");
  return dist::map_ranges<F, std::decay_t<R>>(options, std::forward<R>(range));
}

/// The same for several ranges: f gets an element of each. The shortest range ends it.
template <auto F, std::ranges::input_range... R>
  requires(sizeof...(R) > 0)
task<std::vector<dist::map_value<F>>> map(map_options options, R&&... ranges) {
  static_assert(dist::check_map<F>(sizeof...(R)),
                "plait: map got another number of ranges than the function has parameters");
  return dist::map_ranges<F, std::decay_t<R>...>(options, std::forward<R>(ranges)...);
}

/// Starts f for each element as a task of its own and gives the futures, in input order. For several ranges: f gets an
/// element of each, and the shortest range ends it.
template <auto F, std::ranges::input_range... R>
  requires(sizeof...(R) > 0)
auto map_futures(R&&... ranges) {
  static_assert(dist::check_map<F>(sizeof...(R)),
                "plait: map_futures got another number of ranges than the function has parameters");
  using result = typename dist::constant_callable<F>::traits::result;
  std::vector<future<result>> futures;
  dist::zipped<F, R...> inputs(ranges...);
  for (; !inputs.empty(); inputs.advance()) {
    std::apply([&futures](auto&&... input) { futures.push_back(submit<F>(std::move(input)...)); }, inputs.current());
  }
  return futures;
}

/// Starts f for each element as a task of its own; `while (auto c = co_await next(range))` then gives the results in
/// the order in which they are ready.
template <auto F, std::ranges::input_range... R>
  requires(sizeof...(R) > 0)
auto map_as_completed(R&&... ranges) { return as_completed(map_futures<F>(std::forward<R>(ranges)...)); }

}  // namespace PLAIT_DIST
}  // namespace plait
