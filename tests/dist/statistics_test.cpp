// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "../support/captured_stderr.hpp"
#include "../support/loopback_ranks.hpp"
#include "../support/ranks_case.hpp"

namespace statistics_cases {

using plait::statistics;
using plait::task_statistics;

int counted(int n) { return n + 1; }
plait::task<int> suspends(int n) {
  co_await plait::yield();
  co_return n;
}
plait::task<long> tree(int n) {
  if (n < 2) co_return n;
  plait::future<long> a = co_await plait::fork(tree(n - 1));
  const long b = co_await tree(n - 2);
  co_return co_await a + b;
}
void takes_two_milliseconds() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

const task_statistics* found(const statistics& s, const std::string& part) {
  for (const auto& t : s.tasks) {
    if (t.name.find(part) != std::string::npos) return &t;
  }
  return nullptr;
}

plait::task<void> some_work(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto a = plait::submit<counted>(plait::cyclic, i);
    auto b = plait::spawn(suspends(i));
    CHECK(co_await a == i + 1);
    CHECK(co_await b == i);
  }
}

RANKS_CASE("without PLAIT_STATS statistics count tasks, and take no times") {
  const auto before = rt.statistics();
  rt.run([] { return some_work(50); });
  const auto s = rt.statistics() - before;
  CHECK(s.ranks.size() == static_cast<std::size_t>(rt.size()));
  std::uint64_t submitted = 0, spawned = 0, executed = 0;
  for (const auto& w : s.workers) {
    submitted += w.submitted;
    spawned += w.spawned;
    executed += w.executed;
    CHECK(w.busy == 0);
  }
  CHECK(submitted == 50);
  CHECK(spawned == 50);
  CHECK(executed == 50);
  CHECK(s.tasks.empty());
}

void on_loopback(int ranks, int workers, void (*body)(plait::runtime&)) {
  plait_test::on_loopback_transports(ranks, [=](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = workers, .stats = 2});
    body(rt);
  });
}

TEST_CASE("with them each name has its count and times, and each rank what it gave and took") {
  for (const int ranks : {1, 2, 3}) {
    on_loopback(ranks, 2, [](plait::runtime& rt) {
      const auto before = rt.statistics();
      rt.run([]() -> plait::task<void> {
        co_await some_work(60);
        for (int r = 0; r < plait::size(); ++r) co_await plait::submit<takes_two_milliseconds>(plait::on_rank(r));
      });
      const auto s = rt.statistics() - before;
      const auto* submitted = found(s, "statistics_cases::counted");
      const auto* spawned = found(s, "statistics_cases::suspends");
      const auto* slept = found(s, "takes_two_milliseconds");
      REQUIRE(submitted != nullptr);
      REQUIRE(spawned != nullptr);
      REQUIRE(slept != nullptr);
      CHECK(submitted->count == 60);
      CHECK(spawned->count == 60);
      CHECK(slept->count == static_cast<std::uint64_t>(rt.size()));
      CHECK(slept->mean() >= 0.002);
      CHECK(slept->quantile(0.5) >= 0.002 * 0.968);
      CHECK(slept->max >= slept->mean());
      CHECK(slept->quantile(1) <= slept->max);
      CHECK(found(s, "the root task") != nullptr);
      std::uint64_t given = 0, taken = 0, messages = 0;
      for (const auto& r : s.ranks) {
        given += r.given;
        taken += r.taken;
        messages += r.messages;
        CHECK(r.peak_memory > 0);
        CHECK(!r.host.empty());
      }
      CHECK(given >= taken);  // some move on
      CHECK((given > 0) == (rt.size() > 1));
      CHECK((messages > 0) == (rt.size() > 1));
    });
  }
}

TEST_CASE("forks are counted, and times of workers add up to that of the run") {
  on_loopback(1, 1, [](plait::runtime& rt) {
    const auto before = rt.statistics();
    CHECK(rt.run(tree(15)).value_or(0) == 610);
    const auto s = rt.statistics() - before;
    CHECK(s.workers[0].forked == 986);  // calls with n above 1
    const auto& w = s.workers[0];
    const double whole = w.busy + w.searching + w.idle + w.communication;
    CHECK(w.busy > 0);
    CHECK(whole <= s.seconds * 1.05);
  });
}

TEST_CASE("a name that was given to a task is the one that is shown") {
  on_loopback(1, 1, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      auto t = plait::named("<script>\"x\"\n\xff\xc3\xa4", suspends(1));
      auto f = plait::spawn(std::move(t));
      co_await f;
    });
    const auto s = rt.statistics();
    const auto* given = found(s, "<script>");
    REQUIRE(given != nullptr);
    CHECK(given->count == 1);
    CHECK(s.json().find("\"\\u003cscript\\u003e\\\"x\\\"\\u000a\\ufffd\xc3\xa4\"") != std::string::npos);
    CHECK(s.table().find("<script>\"x\"??\xc3\xa4\n") != std::string::npos);
  });
}

TEST_CASE("statistics of nothing are whole in every format") {
  const statistics none;
  CHECK(none.json() == "{\"seconds\": 0.000000000, \"workers\": [],\n \"ranks\": [],\n \"tasks\": []}\n");
  CHECK(none.table().find("plait: 0 ranks, 0 workers") == 0);
  const task_statistics empty;
  CHECK(empty.mean() == 0);
  CHECK(empty.quantile(0.5) == 0);
}

TEST_CASE("a name of 10 kB is whole in JSON and cut in the table") {
  statistics s;
  auto& t = s.tasks.add();
  t.count = 1;
  for (int i = 0; i < 5000; ++i) t.name += "\xc3\xa4";
  CHECK(s.json().find("\"" + t.name + "\"") != std::string::npos);
  const auto table = s.table();
  CHECK(table.find(t.name.substr(0, 160) + "...\n") != std::string::npos);
}

TEST_CASE("the tasks that took most time come first, and those of an earlier run are gone") {
  statistics before, after;
  const auto add = [](statistics& s, const char* name, std::uint64_t count, double total) {
    auto& t = s.tasks.add();
    t.name = name;
    t.count = count;
    t.total = t.max = total;
    t.in_range.resize(plait::obs::time_ranges);
    t.in_range[plait::obs::time_range_of(1000)] = count;
  };
  add(before, "a", 5, 5);
  add(before, "b", 1, 2);
  add(after, "a", 5, 5);
  add(after, "b", 3, 3);
  add(after, "c", 1, 2);
  const auto d = after - before;
  REQUIRE(d.tasks.size() == 2);
  CHECK(d.tasks[0].name == "c");
  CHECK(d.tasks[1].name == "b");
  CHECK(d.tasks[1].count == 2);
  CHECK(d.tasks[1].total == doctest::Approx(1));
  CHECK(d.tasks[1].quantile(0.99) == doctest::Approx(1e-6).epsilon(0.04));
}

TEST_CASE("PLAIT_STATS prints a table of each run on rank 0") {
  plait_test::captured_stderr captured;
  plait_test::on_loopback_transports(2, [](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 2, .stats = 1});
    for (int i = 0; i < 2; ++i) rt.run([] { return some_work(10); });
  });
  const auto text = captured.text();
  CAPTURE(text);
  const auto count = [&text](const std::string& part) {
    int n = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  CHECK(count("plait: 2 ranks, 4 workers, ") == 2);
  CHECK(count("plait: imbalance ") == 2);
  CHECK(count("plait:         10 ") >= 4);  // both kinds of task, in both runs
  CHECK(count("statistics_cases::counted") == 2);
}

TEST_CASE("statistics go to a file as JSON, and where it can't be written rank 0 says so") {
  const std::string name = "/tmp/plait_statistics_" + std::to_string(::getpid()) + ".json";
  plait_test::on_loopback_transports(2, [&name](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .stats_file = name.c_str()});
    rt.run([] { return some_work(10); });
  });
  std::stringstream content;
  content << std::ifstream(name).rdbuf();
  CHECK(content.str().find("\"count\": 10") != std::string::npos);
  CHECK(content.str().find("\"rank\": 1") != std::string::npos);
  std::remove(name.c_str());
  plait_test::captured_stderr captured;
  plait_test::on_loopback_transports(1, [](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .stats_file = "/nowhere/at/all.json"});
    rt.run([] { return some_work(1); });
  });
  CHECK(captured.text() == "plait: statistics could not be written to /nowhere/at/all.json\n");
}

}  // namespace statistics_cases
