// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <thread>

#include <chrono>

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../support/captured_stderr.hpp"
#include "../support/ranks_case.hpp"

// One function over many inputs.
namespace map_cases {

double halve(int n) { return n / 2.0; }
plait::task<int> add_one_later(int n) {
  co_await plait::yield();
  co_return n + 1;
}
plait::rank_local<std::atomic<int>> visits;
void visit(int) { ++*visits; }
plait::task<void> visit_later(int) {
  co_await plait::yield();
  ++*visits;
}
int checked(int n) {
  if (n % 10 == 7) throw std::out_of_range("bad input " + std::to_string(n));
  ++*visits;
  return n;
}
bool is_even(int n) { return n % 2 == 0; }
std::string repeat(std::string s, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += s;
  return out;
}
std::size_t length(const std::string& s) { return s.size(); }
std::unique_ptr<int> boxed(std::unique_ptr<int> p) {
  ++*p;
  return p;
}
struct point {
  explicit point(int a) : x(a) {}
  int x;
};
point move_point(point p) { return point(p.x * 2); }
int rank_of(int) { return plait::rank(); }

std::vector<int> first_numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

std::atomic<int> progress_calls{0};
std::atomic<std::size_t> progress_done{0};
std::atomic<int> progress_wrong{0};
void count_calls(std::size_t, std::size_t) { ++progress_calls; }
void note_progress(std::size_t done, std::size_t total) {
  ++progress_calls;
  if (done <= progress_done || done > total || total != 25) ++progress_wrong;
  progress_done = done;
}

std::atomic<int> at_once{0};
std::atomic<int> most_at_once{0};
int watched(int n) {
  const int now = ++at_once;
  int most = most_at_once;
  while (now > most && !most_at_once.compare_exchange_weak(most, now)) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --at_once;
  return n;
}

RANKS_CASE("map gives the results in input order, for any chunk and window") {
  rt.run([]() -> plait::task<void> {
    const auto inputs = first_numbers(37);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{4}, std::size_t{37}, std::size_t{100}}) {
      for (const std::size_t window : {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {
        const auto results = co_await plait::map<halve>(inputs, {.chunk = chunk, .window = window});
        CHECK(results.size() == 37);
        for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i] == static_cast<double>(i) / 2);
      }
    }
    const auto later = co_await plait::map<add_one_later>(inputs, {.chunk = 5});
    CHECK(later.size() == 37);
    CHECK(later.back() == 37);
  });
}

RANKS_CASE("map works from any rank and in nested tasks") {
  rt.run_all([]() -> plait::task<void> {
    const auto results = co_await plait::map<halve>(first_numbers(20), {.chunk = 3});
    CHECK(std::accumulate(results.begin(), results.end(), 0.0) == 95);
    const auto inner = co_await plait::submit(plait::cyclic, []() -> plait::task<double> {
      const auto r = co_await plait::map<halve>(first_numbers(10));
      co_return std::accumulate(r.begin(), r.end(), 0.0);
    });
    CHECK(inner == 22.5);
  }());
}

RANKS_CASE("map takes many kinds of ranges") {
  rt.run([]() -> plait::task<void> {
    CHECK((co_await plait::map<halve>(std::vector<int>{})).empty());
    CHECK((co_await plait::map<halve>(std::views::iota(0, 10))).size() == 10);
    const std::list<int> list{4, 5};
    const std::vector<double> halves{2, 2.5};
    CHECK((co_await plait::map<halve>(list)) == halves);
    const std::set<std::string> set{"a", "bcd"};
    const std::vector<std::size_t> lengths{1, 3};
    CHECK((co_await plait::map<length>(set)) == lengths);
    auto numbers = first_numbers(3);
    CHECK((co_await plait::map<halve>(std::span<int>(numbers))).size() == 3);
    auto odd = std::views::filter(list, [](int n) { return n % 2 == 1; });
    CHECK((co_await plait::map<halve>(odd)).size() == 1);
    const std::vector<bool> expected{true, false, true};
    CHECK((co_await plait::map<is_even>(first_numbers(3), {.chunk = 2})) == expected);
  });
}

RANKS_CASE("map leaves an lvalue range and what a view looks at as they were") {
  rt.run([]() -> plait::task<void> {
    std::vector<std::string> words{"a long enough word to be on the heap", "another long enough word on the heap"};
    const auto before = words;
    CHECK((co_await plait::map<length>(words)).size() == 2);
    CHECK(words == before);
    CHECK((co_await plait::map<length>(std::span<std::string>(words))).size() == 2);
    CHECK(words == before);
    CHECK((co_await plait::map<length>(std::views::all(words), {.chunk = 2})).size() == 2);
    CHECK(words == before);
    for (auto& f : plait::map_futures<length>(std::span<std::string>(words))) CHECK(co_await f == 36);
    CHECK(words == before);
    for (auto& f : plait::map_futures<length>(words)) CHECK(co_await f == 36);
    CHECK(words == before);
  });
}

RANKS_CASE("map zips several ranges, and the shortest ends it") {
  rt.run([]() -> plait::task<void> {
    const std::vector<std::string> words{"a", "b", "c", "d"};
    const std::vector<int> times{1, 2, 3};
    const auto out = co_await plait::map<repeat>(plait::map_options{.chunk = 2}, words, times);
    const std::vector<std::string> expected{"a", "bb", "ccc"};
    CHECK(out == expected);
    const auto endless = co_await plait::map<repeat>({}, words, std::views::iota(2));
    const std::vector<std::string> expected_of_endless{"aa", "bbb", "cccc", "ddddd"};
    CHECK(endless == expected_of_endless);
  });
}

RANKS_CASE("map takes move-only inputs and results, and types without a default constructor") {
  rt.run([]() -> plait::task<void> {
    std::vector<std::unique_ptr<int>> boxes;
    for (int i = 0; i < 10; ++i) boxes.push_back(std::make_unique<int>(i));
    const auto out = co_await plait::map<boxed>(std::move(boxes), {.chunk = 3});
    CHECK(out.size() == 10);
    for (int i = 0; i < 10; ++i) CHECK(*out[static_cast<std::size_t>(i)] == i + 1);
    const auto points = co_await plait::map<move_point>(std::vector<point>(5, point(4)), {.chunk = 2});
    CHECK(points.size() == 5);
    CHECK(points.back().x == 8);
  });
}

RANKS_CASE("map over a function without result calls it once for each input") {
  rt.run([]() -> plait::task<void> {
    const std::vector<std::monostate> nothing = co_await plait::map<visit>(first_numbers(25), {.chunk = 4});
    CHECK(nothing.size() == 25);
    co_await plait::map<visit_later>(first_numbers(25), {.chunk = 4});
  });
  CHECK(plait_test::sum_over_ranks(rt, visits.get(rt).exchange(0)) == 50);
}

RANKS_CASE("map throws the first exception in input order, after all inputs have had their turn") {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{4}, std::size_t{50}}) {
    const auto caught = rt.run([chunk]() -> plait::task<std::string> {
      try {
        co_await plait::map<checked>(first_numbers(30), {.chunk = chunk, .window = 5});
      } catch (const std::out_of_range& e) {
        co_return e.what();
      }
      co_return "nothing was thrown";
    });
    CHECK(caught.value_or("bad input 7") == "bad input 7");
    CHECK(plait_test::sum_over_ranks(rt, visits.get(rt).exchange(0)) == 27);
  }
}

struct refused {};
int refuse(int n) {
  if (plait::rank() != 0) throw refused{};
  return n;
}
long added(long a, long b) { return a + b; }

RANKS_CASE("an exception of map or map_reduce on another rank names the function that is mapped") {
  rt.run([]() -> plait::task<void> {
    const auto name_of = [](auto awaitable) -> plait::task<std::string> {
      try {
        co_await std::move(awaitable);
      } catch (const plait::remote_error& e) {
        co_return e.task_name();
      } catch (const refused&) {
      }
      co_return "map_cases::refuse";  // all were taken by rank 0
    };
    for (int round = 0; round < 5; ++round) {
      CHECK(co_await name_of(plait::map<refuse>(first_numbers(200))) == "map_cases::refuse");
      CHECK(co_await name_of(plait::map_reduce<refuse, added>(first_numbers(200), 0L)) == "map_cases::refuse");
    }
  });
}

RANKS_CASE("map reports its progress") {
  if (rt.rank() == 0) {
    progress_calls = progress_wrong = 0;
    progress_done = 0;
  }
  rt.run([]() -> plait::task<void> {
    co_await plait::map<halve>(first_numbers(25), {.chunk = 4, .progress = &note_progress});
  });
  if (rt.rank() == 0) {
    CHECK(progress_calls == 7);
    CHECK(progress_done == 25);
    CHECK(progress_wrong == 0);
  }
}

RANKS_CASE("map shows a bar of its progress, with the name of the function, on the rank that maps") {
  std::optional<plait_test::captured_stderr> captured;
  if (rt.rank() == 0) captured.emplace();
  rt.run([]() -> plait::task<void> {
    co_await plait::map<halve>(first_numbers(25), {.chunk = 4, .progress = true});
    co_await plait::map<halve>(first_numbers(25), {.progress = false});
  });
  if (rt.rank() == 0) {
    const auto text = captured->text();
    CAPTURE(text);
    CHECK(text.find("halve: 25 of 25 (100 %), ") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  }
}

RANKS_CASE("map reports its progress beyond inputs that throw") {
  if (rt.rank() == 0) {
    progress_calls = progress_wrong = 0;
    progress_done = 0;
  }
  rt.run([]() -> plait::task<void> {
    auto inputs = first_numbers(25);
    inputs[24] = 7;
    CHECK_THROWS_AS(co_await plait::map<checked>(std::move(inputs), {.chunk = 4, .progress = &note_progress}),
                    std::out_of_range);
  });
  if (rt.rank() == 0) {
    CHECK(progress_done == 25);
    CHECK(progress_wrong == 0);
  }
  visits.get(rt) = 0;
}

/// On rank 0: the calls that have ended.
plait::rank_local<std::atomic<int>> ended_calls;
int count_of_ended() { return ended_calls->load(); }
void count_ended() { ended_calls->fetch_add(1); }
/// The first input takes until twenty others are through.
plait::task<int> first_is_slowest(int n) {
  if (n != 0) {
    co_await plait::submit<count_ended>(plait::on_rank(0));
  } else {
    const plait_test::waiting_for named("twenty chunks after the first one");
    while (co_await plait::submit<count_of_ended>(plait::on_rank(0)) < 20)
      co_await plait::sleep_for(std::chrono::microseconds(200));
  }
  co_return n;
}

RANKS_CASE("map refills its window while one chunk takes long") {
  for (const std::size_t window : {std::size_t{2}, std::size_t{5}}) {
    rt.run([window]() -> plait::task<void> {
      *ended_calls = 0;
      CHECK(co_await plait::map<first_is_slowest>(first_numbers(30), {.window = window}) == first_numbers(30));
    });
  }
}

RANKS_CASE("map_futures and map_as_completed zip several ranges") {
  rt.run([]() -> plait::task<void> {
    std::vector<std::string> words{"a", "b", "c", "d"};
    auto futures = plait::map_futures<repeat>(words, std::views::iota(2));
    CHECK(futures.size() == 4);
    CHECK(words[3] == "d");
    CHECK(co_await futures[3] == "ddddd");
    auto range = plait::map_as_completed<repeat>(std::move(words), std::vector<int>{1, 2});
    std::map<std::size_t, std::string> seen;
    while (auto c = co_await plait::next(range)) seen[c->index] = co_await c->future;
    CHECK(seen == std::map<std::size_t, std::string>{{0, "a"}, {1, "bb"}});
  });
}

TEST_CASE("map has no more tasks under way than its window") {
  plait_test::on_loopback(2, {.workers = 2}, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      for (const std::size_t window : {std::size_t{1}, std::size_t{2}}) {
        most_at_once = 0;
        co_await plait::map<watched>(first_numbers(20), {.window = window});
        CHECK(most_at_once <= static_cast<int>(window));
      }
    });
  });
}

RANKS_CASE("without a chunk few inputs are tasks of their own, and of many each worker gets 64 tasks") {
  rt.run([]() -> plait::task<void> {
    for (const int count : {0, 25, 20000}) {
      progress_calls = progress_wrong = 0;
      progress_done = 0;
      const auto halves = co_await plait::map<halve>(first_numbers(count), {.progress = &count_calls});
      CHECK(halves.size() == static_cast<std::size_t>(count));
      const int chunk = std::max(1, count / (64 * plait::num_workers()));
      CHECK(progress_calls == (count + chunk - 1) / chunk);
      if (count > 0) CHECK(halves.back() == (count - 1) / 2.0);
    }
  });
}

RANKS_CASE("a range that throws is an error") {
  rt.run([]() -> plait::task<void> {
    auto broken = std::views::transform(std::views::iota(0, 10), [](int n) {
      if (n == 5) throw std::domain_error("broken range");
      return n;
    });
    CHECK_THROWS_WITH_AS(co_await plait::map<halve>(broken), "broken range", std::domain_error);
  });
}

RANKS_CASE("map_futures starts a task for each input") {
  rt.run([]() -> plait::task<void> {
    auto futures = plait::map_futures<halve>(first_numbers(20));
    CHECK(futures.size() == 20);
    for (std::size_t i = 0; i < futures.size(); ++i) CHECK(co_await futures[i] == static_cast<double>(i) / 2);
    std::vector<std::unique_ptr<int>> boxes;
    boxes.push_back(std::make_unique<int>(1));
    auto moved = plait::map_futures<boxed>(std::move(boxes));
    CHECK(*co_await moved[0] == 2);
  });
}

RANKS_CASE("map_as_completed gives each result once, in the order of completion") {
  rt.run([]() -> plait::task<void> {
    auto range = plait::map_as_completed<checked>(first_numbers(20));
    std::set<std::size_t> seen;
    int failures = 0;
    while (auto c = co_await plait::next(range)) {
      CHECK(seen.insert(c->index).second);
      try {
        const int value = co_await c->future;
        CHECK(value == static_cast<int>(c->index));
      } catch (const std::out_of_range&) {
        ++failures;
      }
    }
    CHECK(seen.size() == 20);
    CHECK(failures == 2);
  });
  visits.get(rt) = 0;
}

RANKS_CASE("map spreads its chunks over the ranks") {
  if (rt.size() == 1) return;
  rt.run([]() -> plait::task<void> {
    const auto ranks = co_await plait::map<[](int n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return rank_of(n);
    }>(first_numbers(16 * plait::size()), {.chunk = 2});
    CHECK(std::set<int>(ranks.begin(), ranks.end()).size() > 1);
  });
}

std::atomic<int> calls_running{0};
int counted_call(int n) {
  ++calls_running;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  --calls_running;
  return n;
}
void refuses(std::size_t, std::size_t) { throw std::runtime_error("from progress"); }

RANKS_CASE("map ends all its tasks also where progress throws") {
  rt.run([]() -> plait::task<void> {
    const plait::map_options options{.window = 4, .progress = refuses};
    const std::vector<int> inputs(40);
    std::string text;
    try {
      co_await plait::map<counted_call>(inputs, options);
    } catch (const std::runtime_error& e) {
      text = e.what();
    }
    CHECK(text == "from progress");
    CHECK(calls_running == 0);  // of this rank, or on the loopback of all
  }());
}

}  // namespace map_cases
