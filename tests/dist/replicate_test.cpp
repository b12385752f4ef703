// SPDX-License-Identifier: BSL-1.0

// Constants that all ranks have, and reductions over all ranks.

#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../support/ranks_case.hpp"

namespace replicate_cases {

using plait::on_rank;
using plait::replicate;
using plait::replicated;
using plait::submit;
using plait::task;

/// Counts how often it was written, and read; where ranks share a process, by all of them together.
std::atomic<int> written{0};
std::atomic<int> read{0};
struct table {
  std::vector<int> numbers;
  int refuses_from = 1000;  ///< reading it throws
  template <class Archive>
  void save(Archive& archive) const {
    ++written;
    archive(numbers, refuses_from);
  }
  template <class Archive>
  void load(Archive& archive) {
    ++read;
    archive(numbers, refuses_from);
    if (refuses_from == 0) throw std::domain_error("a table that can't be read");
  }
};

std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

int look_up(const replicated<table>& t, int i) { return t->numbers[static_cast<std::size_t>(i)]; }
task<long> sum_up(replicated<std::vector<int>> v) {
  const auto& here = co_await v;
  co_return std::accumulate(here.begin(), here.end(), 0L);
}
bool is_refused(replicated<table> t) {
  try {
    static_cast<void>(*t);
    return false;
  } catch (const std::domain_error&) {
    return true;
  }
}

plait::rank_local<replicated<int>> kept;
int from_another_rank() {
  const auto mine = replicate(std::vector<int>(5, plait::rank()));
  return submit([](const replicated<std::vector<int>>& v) { return static_cast<int>(v->size()) * v->front(); }, mine)
      .get();
}

RANKS_CASE("a thousand tasks use a constant that travels to each rank once") {
  plait_test::sum_over_ranks(rt, 0);
  const int written_before = written;
  const int read_before = read;
  plait_test::sum_over_ranks(rt, 0);
  rt.run([]() -> task<void> {
    const auto t = replicate(table{numbers(1000)});
    std::vector<plait::future<int>> all;
    for (int i = 0; i < 1000; ++i) all.push_back(submit<look_up>(plait::cyclic, t, i));
    for (int i = 0; i < 1000; ++i) CHECK(co_await all[static_cast<std::size_t>(i)] == i);
    CHECK(t->numbers.size() == 1000);
  });
  const bool one_process = !plait_test::under_mpi();
  CHECK(written - written_before == (rt.size() > 1 && (one_process || rt.rank() == 0) ? 1 : 0));
  CHECK(read - read_before == (one_process ? rt.size() - 1 : rt.rank() == 0 ? 0 : 1));
}

RANKS_CASE("coroutines await a constant, several of one type are told apart, and any rank may be the first") {
  rt.run([]() -> task<void> {
    const std::vector<int> hundred(100, 1);
    const auto a = replicate(hundred);
    const auto b = replicate(std::vector<int>(200, 2));
    for (int r = 0; r < plait::size(); ++r) {
      CHECK(co_await submit<sum_up>(on_rank(r), a) == 100);
      CHECK(co_await submit<sum_up>(on_rank(r), b) == 400);
      CHECK(co_await submit<from_another_rank>(on_rank(r)) == 5 * r);
    }
  });
}

RANKS_CASE("a constant that a rank can't read is an error of those who use it there") {
  rt.run([]() -> task<void> {
    const auto t = replicate(table{numbers(3), 0});
    for (int r = 0; r < plait::size(); ++r) CHECK(co_await submit<is_refused>(on_rank(r), t) == (r != plait::rank()));
  });
}

RANKS_CASE("a constant ends with its run") {
  rt.run([]() -> task<void> {
    *kept = replicate(7);
    CHECK(**kept == 7);
    CHECK_THROWS_AS(*replicated<int>(), plait::error);
    co_return;
  });
  rt.run([]() -> task<void> {
    CHECK_THROWS_WITH_AS(**kept, doctest::Contains("after the run"), plait::error);
    co_return;
  });
}

// ---- map_reduce ----

int square(int n) { return n * n; }
task<std::string> letter(int n) {
  co_await plait::yield();
  co_return std::string(1, static_cast<char>('a' + n % 26));
}
int odd_throws(int n) {
  if (n % 2 == 1) throw std::out_of_range(std::to_string(n));
  return n;
}
long add(long a, long b) { return a + b; }

RANKS_CASE("map_reduce joins results in input order, for any chunk") {
  rt.run([]() -> task<void> {
    std::string expected = ">";
    for (int i = 0; i < 60; ++i) expected += static_cast<char>('a' + i % 26);
    const auto inputs = numbers(60);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{100}}) {
      constexpr auto append = [](std::string a, std::string b) { return std::move(a) + b; };
      const auto text = co_await plait::map_reduce<letter, append>(inputs, std::string(">"), {.chunk = chunk});
      CHECK(text == expected);
      const auto sum = co_await plait::map_reduce<square, add>(inputs, 1000L, {.chunk = chunk});
      CHECK(sum == 1000 + 59L * 60 * 119 / 6);
    }
    const auto nothing = co_await plait::map_reduce<square, add>(std::vector<int>(), 3L);
    CHECK(nothing == 3);
    const auto maximum = co_await plait::map_reduce<square, [](int a, int b) { return a < b ? b : a; }>(numbers(9), 5);
    CHECK(maximum == 64);
  });
}

RANKS_CASE("map_reduce throws the first exception in input order, when all its tasks have ended") {
  plait_test::unobserved_log log;
  rt.run([]() -> task<void> {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{4}}) {
      const plait::map_options options{.chunk = chunk};
      std::string text;
      try {
        co_await plait::map_reduce<odd_throws, add>(numbers(20), 0L, options);
      } catch (const std::out_of_range& e) {
        text = e.what();
      }
      CHECK(text == "1");
    }
  });
  CHECK(log.take().empty());
}

}  // namespace replicate_cases
