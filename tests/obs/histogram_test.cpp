// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/obs/histogram.hpp>
#include <plait/obs/task_times.hpp>
#include <plait/obs/time_account.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace histogram_cases {

namespace obs = plait::obs;

TEST_CASE("the middle of the range of a time is within 3.2 percent of it, from 1 ns to 30 hours") {
  std::size_t before = 0;
  for (double t = 1; t < 1.08e14; t *= 1.007) {
    const auto ns = static_cast<std::uint64_t>(t);
    const auto range = obs::time_range_of(ns);
    CHECK(range < obs::time_ranges);
    CHECK(range >= before);
    before = range;
    CHECK(std::abs(obs::time_in_range(range) - static_cast<double>(ns)) <= 0.032 * static_cast<double>(ns));
  }
}

TEST_CASE("ranges join without a gap") {
  for (std::uint64_t ns = 0; ns < 100'000; ++ns) {
    const auto step = obs::time_range_of(ns + 1) - obs::time_range_of(ns);
    if (step > 1) CAPTURE(ns);
    CHECK(step <= 1);
  }
  CHECK(obs::time_range_of(0) == 0);
  CHECK(obs::time_range_of(~std::uint64_t{0}) == obs::time_ranges - 1);
}

plait::base::text name_of_key(const void* key) { return std::string_view(static_cast<const char*>(key)); }

TEST_CASE("times are kept by name, whether it is found out later or given") {
  const auto times = std::make_unique<obs::task_times>();
  const char* key = "found out";
  for (std::uint64_t i = 1; i <= 10; ++i) times->add({key, &name_of_key, {}}, 100 * i);
  for (int i = 0; i < 3; ++i) times->add({nullptr, nullptr, std::string("given")}, 7);
  std::map<std::string, const obs::time_counts*> seen;
  times->for_each([&](std::string_view name, const obs::time_counts& t) { seen[std::string(name)] = &t; });
  REQUIRE(seen.size() == 2);
  CHECK(seen["found out"]->count.read() == 10);
  CHECK(seen["found out"]->total.read() == 5500);
  CHECK(seen["found out"]->most.read() == 1000);
  CHECK(seen["given"]->count.read() == 3);
  CHECK(seen["given"]->in_range[7].read() == 3);
}

TEST_CASE("of more than a thousand names the others are counted together") {
  const auto times = std::make_unique<obs::task_times>();
  for (int i = 0; i < 1500; ++i) times->add({nullptr, nullptr, std::to_string(i)}, 1);
  std::size_t names = 0;
  std::uint64_t others = 0, all = 0;
  times->for_each([&](std::string_view name, const obs::time_counts& t) {
    ++names;
    all += t.count.read();
    if (name == "(others)") others = t.count.read();
  });
  CHECK(names == 1001);
  CHECK(others == 500);
  CHECK(all == 1500);
}

TEST_CASE("an account has each time once, and what has begun up to now") {
  using obs::activity;
  obs::time_account a;
  CHECK(a.spent(activity::work, 5) == 0);
  a.enter(activity::work, 100);
  CHECK(a.spent(activity::work, 130) == 30);
  a.enter(activity::sleep, 150);
  a.enter(activity::work, 157);
  a.enter(activity::search, 160);
  CHECK(a.spent(activity::work, 1000) == 53);
  CHECK(a.spent(activity::sleep, 1000) == 7);
  CHECK(a.spent(activity::search, 1000) == 840);
  CHECK(a.spent(activity::away, 1000) == 0);
}

}  // namespace histogram_cases
