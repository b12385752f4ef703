// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../support/ranks_case.hpp"

// What can be submitted, with which arguments and results: each goes to every rank and comes back.
namespace submit_cases {

using plait_test::detach;

/// Calls body(rank) as a part of a run for each rank, on rank 0.
template <class Body>
void for_each_rank(plait::runtime& rt, Body body) {
  rt.run([&]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) co_await body(r);
  });
}

// ---- callables ----

int plain(int a, int b) { return a + b; }
int never_throws(int a) noexcept { return -a; }
void no_result() {}
plait::task<long> coroutine(long n) {
  co_await plait::yield();
  co_return n* n;
}
plait::task<void> void_coroutine() { co_await plait::yield(); }
int by_const_reference(const std::string& s, const int& n) { return static_cast<int>(s.size()) + n; }
plait::task<std::size_t> coroutine_by_reference(const std::vector<int>& v) {
  co_await plait::yield();
  co_return v.size();  // the task owns the vector
}
int by_rvalue_reference(std::string&& s) { return static_cast<int>(std::string(std::move(s)).size()); }
static int internal_linkage(int a) { return a * 3; }

int overloaded(int a) { return a + 1; }
std::string overloaded(const std::string& s) { return s + "!"; }

template <class T>
T twice(T t) {
  return t + t;
}

struct box {
  static int static_member(int a) { return a - 1; }
};

// ---- arguments and results ----

struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};
static_assert(!std::is_default_constructible_v<no_default>);
no_default pass_no_default(no_default n) { return no_default(n.value + 1); }
std::vector<no_default> pass_many(std::vector<no_default> v) {
  v.emplace_back(9);
  return v;
}

struct record {
  std::string name;
  std::vector<double> values;
  std::map<std::string, int> index;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, values, index);
  }
  friend bool operator==(const record&, const record&) = default;
};
record pass_record(record r) {
  r.index[r.name] = static_cast<int>(r.values.size());
  return r;
}

std::unique_ptr<int> pass_unique(std::unique_ptr<int> p) {
  if (p) ++*p;
  return p;
}
std::shared_ptr<std::string> pass_shared(std::shared_ptr<std::string> p) { return p; }

using everything = std::tuple<std::optional<int>, std::variant<int, std::string>, std::pair<char, bool>,
                              std::array<int, 3>, std::vector<bool>, std::vector<std::vector<std::string>>>;
everything pass_everything(everything e) { return e; }

std::size_t length(std::string s) { return s.size(); }
double widened(double d) { return d / 2; }

std::uint64_t checksum(const std::vector<std::uint32_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::uint64_t{0});
}
std::vector<std::uint32_t> doubled(std::vector<std::uint32_t> v) {
  for (auto& x : v) x *= 2;
  return v;
}
std::vector<std::uint32_t> numbers(std::size_t bytes) {
  std::vector<std::uint32_t> v(bytes / sizeof(std::uint32_t));
  std::iota(v.begin(), v.end(), 1u);
  return v;
}

RANKS_CASE("functions and coroutine functions run anywhere") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    const auto there = plait::on_rank(r);
    CHECK(co_await plait::submit<plain>(there, 2, 3) == 5);
    CHECK(co_await plait::submit<&plain>(there, 2, 4) == 6);
    CHECK(co_await plait::submit<never_throws>(there, 4) == -4);
    co_await plait::submit<no_result>(there);
    CHECK(co_await plait::submit<coroutine>(there, 12) == 144);
    co_await plait::submit<void_coroutine>(there);
    CHECK(co_await plait::submit<internal_linkage>(there, 5) == 15);
    CHECK(co_await plait::submit<box::static_member>(there, 5) == 4);
    CHECK(co_await plait::submit<twice<std::string>>(there, "ab") == "abab");
    CHECK(co_await plait::submit<twice<double>>(there, 1.5) == 3.0);
    CHECK(co_await plait::submit<by_const_reference>(there, "four", 1) == 5);
    CHECK(co_await plait::submit<coroutine_by_reference>(there, std::vector<int>(7)) == 7);
    CHECK(co_await plait::submit<by_rvalue_reference>(there, "text") == 4);
  });
}

RANKS_CASE("lambdas without captures run anywhere, and choose an overload") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    const auto there = plait::on_rank(r);
    CHECK(co_await plait::submit(
              there, [](int a, int b) { return a * b; }, 6, 7) == 42);
    CHECK(co_await plait::submit([](int a) { return a + 1; }, 6) == 7);
    CHECK(co_await plait::submit(there, [] { return plait::rank(); }) == r);
    CHECK(co_await plait::submit(
              there,
              [](int a) -> plait::task<int> {
                co_await plait::yield();
                co_return a;
              },
              3) == 3);
    CHECK(co_await plait::submit<[](int a) { return overloaded(a); }>(there, 1) == 2);
    CHECK(co_await plait::submit<[](std::string s) { return overloaded(s); }>(there, "a") == "a!");
    // Two of one signature are two callables.
    const auto first = [](int a) { return a + 100; };
    const auto second = [](int a) { return a + 200; };
    CHECK(co_await plait::submit(there, first, 1) == 101);
    CHECK(co_await plait::submit(there, second, 1) == 201);
    co_await plait::submit(there, [] {});
    co_await plait::submit(there, []() noexcept {});
  });
}

RANKS_CASE("arguments are converted to the parameters' types") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    const auto there = plait::on_rank(r);
    CHECK(co_await plait::submit<length>(there, "a literal") == 9);
    CHECK(co_await plait::submit<widened>(there, 3) == 1.5);
    const std::string lvalue = "an lvalue";
    CHECK(co_await plait::submit<length>(there, lvalue) == 9);
    CHECK(lvalue == "an lvalue");
    short s = 4;
    CHECK(co_await plait::submit<plain>(there, s, 'a' - 'a') == 4);
  });
}

RANKS_CASE("arguments and results of many types travel") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    const auto there = plait::on_rank(r);
    CHECK((co_await plait::submit<pass_no_default>(there, no_default(4))).value == 5);
    const auto many = co_await plait::submit<pass_many>(there, std::vector<no_default>(3, no_default(1)));
    CHECK(many.size() == 4);
    CHECK(many.back().value == 9);

    const record sent{"name", {1, 2, 3}, {{"a", 1}}};
    const auto back = co_await plait::submit<pass_record>(there, sent);
    CHECK(back == record{"name", {1, 2, 3}, {{"a", 1}, {"name", 3}}});

    CHECK(*co_await plait::submit<pass_unique>(there, std::make_unique<int>(1)) == 2);
    CHECK((co_await plait::submit<pass_unique>(there, nullptr)) == nullptr);
    CHECK(*co_await plait::submit<pass_shared>(there, std::make_shared<std::string>("shared")) == "shared");

    const everything e{3, "text", {'c', true}, {1, 2, 3}, {true, false, true}, {{"a"}, {}, {"b", "c"}}};
    CHECK(co_await plait::submit<pass_everything>(there, e) == e);
  });
}

RANKS_CASE("large arguments and results travel") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    for (const std::size_t bytes :
         {std::size_t{1000}, std::size_t{16} << 10, (std::size_t{16} << 10) + 4, std::size_t{1} << 20}) {
      auto v = numbers(bytes);
      const auto sum = checksum(v);
      CHECK(co_await plait::submit<checksum>(plait::on_rank(r), v) == sum);
      const auto back = co_await plait::submit<doubled>(plait::on_rank(r), std::move(v));
      CHECK(checksum(back) == 2 * sum);
    }
  });
}

RANKS_CASE("many large arguments are under way at once, in both directions") {
  rt.run_all([]() -> plait::task<void> {
    const auto v = numbers(100'000);
    const auto sum = checksum(v);
    std::vector<plait::future<std::uint64_t>> sums;
    for (int i = 0; i < 12; ++i) sums.push_back(plait::submit<checksum>(plait::on_rank(i % plait::size()), v));
    for (auto& s : sums) CHECK(co_await s == sum);
  }());
}

RANKS_CASE("an argument of 64 MiB travels") {
  rt.run([]() -> plait::task<void> {
    auto v = numbers(std::size_t{64} << 20);
    const auto sum = checksum(v);
    CHECK(co_await plait::submit<checksum>(plait::on_rank(plait::size() - 1), std::move(v)) == sum);
  });
}

RANKS_CASE("results can be waited for by blocking, also with one worker") {
  for_each_rank(rt, [](int r) -> plait::task<void> {
    auto f = plait::submit<plain>(plait::on_rank(r), 1, 1);
    CHECK(f.get() == 2);
    CHECK(!f.valid());
    auto g = plait::submit<coroutine>(plait::on_rank(r), 3);
    g.wait();
    CHECK(g.done());
    CHECK(g.result() == 9);
    CHECK(co_await g == 9);
    auto h = plait::submit<plain>(plait::on_rank(r), 1, 2);
    CHECK(h.wait_for(std::chrono::seconds(20)));
    CHECK(h.get_for(std::chrono::seconds(1)) == 3);
  });
}

RANKS_CASE("tasks submit tasks from any rank") {
  rt.run([]() -> plait::task<void> {
    const int ranks = plait::size();
    std::vector<plait::future<int>> hops;
    for (int r = 0; r < ranks; ++r) {
      hops.push_back(plait::submit(
          plait::on_rank(r),
          [](int origin) -> plait::task<int> {
            int sum = 0;
            for (int to = 0; to < plait::size(); ++to) {
              sum += co_await plait::submit(
                  plait::on_rank(to), [](int a) { return a * 10 + plait::rank(); }, origin);
            }
            co_return sum;
          },
          r));
    }
    for (int r = 0; r < ranks; ++r)
      CHECK(co_await hops[static_cast<std::size_t>(r)] == ranks * r * 10 + ranks * (ranks - 1) / 2);
  });
}

plait::task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = plait::submit<fib>(n - 1);
  auto b = plait::submit<fib>(plait::cyclic, n - 2);
  const long second = co_await b;
  co_return co_await a + second;
}

long blocking_fib(int n) {
  if (n < 2) return n;
  auto a = plait::submit<blocking_fib>(n - 1);
  auto b = plait::submit<blocking_fib>(n - 2);
  return a.get() + b.get();
}

plait::task<long> root_of_blocking_fib(int n) { co_return plait::submit<blocking_fib>(n).get(); }

RANKS_CASE("nested tasks compute a Fibonacci number across ranks, suspended or blocking") {
  CHECK(rt.run(fib(14)).value_or(377) == 377);
  CHECK(rt.run(root_of_blocking_fib(12)).value_or(144) == 144);
  CHECK(rt.run_all(fib(10)) == 55);
}

TEST_CASE("what is submitted stays typed and shares nothing with the caller") {
  plait_test::on_loopback(1, {.workers = 1}, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      std::string text = "before";
      auto f = plait::submit<length>(text);
      text = "after that it was changed";
      CHECK(co_await f == 6);
      auto p = std::make_shared<std::string>("the very same object");
      CHECK((co_await plait::submit<pass_shared>(p)).get() == p.get());
    });
  });
}

/// Its save, wherever it is called, submits a task to every rank.
struct busy_save {
  int value = 0;
  template <class Archive>
  void save(Archive& archive) const {
    for (int r = 0; r < plait::size(); ++r) detach(plait::submit<never_throws>(plait::on_rank(r), 1));
    archive(value);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(value);
  }
};
std::vector<busy_save> next(busy_save b) { return {busy_save{b.value + 1}}; }

RANKS_CASE("a save may submit tasks") {
  const plait_test::waiting_for named("tasks whose arguments and results submit others as they are packed");
  for_each_rank(rt, [](int r) -> plait::task<void> {
    const auto result = co_await plait::submit<next>(plait::on_rank(r), busy_save{r});
    CHECK(result.front().value == r + 1);
    const auto all = co_await plait::spmd([](const busy_save& b) { return b.value; }, busy_save{r});
    CHECK(all.back() == r);
  });
}

}  // namespace submit_cases
