// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../support/captured_stderr.hpp"
#include "../support/json.hpp"
#include "../support/loopback_ranks.hpp"

namespace trace_cases {

using plait_test::json;

int traced(int n) { return n + 1; }
plait::task<int> pauses(int n) {
  const plait::trace_scope scope("the pause");
  co_await plait::yield();
  co_return n;
}
plait::task<void> some_work(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto a = plait::submit<traced>(plait::cyclic, i);
    auto b = plait::spawn(pauses(i));
    CHECK(co_await a == i + 1);
    CHECK(co_await b == i);
  }
}

std::string file_name(const char* what) {
  return "/tmp/plait_trace_" + std::to_string(::getpid()) + "_" + what + ".json";
}
std::string content(const std::string& name) {
  std::stringstream all;
  all << std::ifstream(name).rdbuf();
  return all.str();
}
bool exists(const std::string& name) { return ::access(name.c_str(), F_OK) == 0; }

/// What the Trace Event Format asks of each event, and that slices of a track lie within each other or apart.
void check_format(const json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> slices;
  std::map<std::string, int> regions;
  int wrong = 0;
  for (const auto& e : trace["traceEvents"].list) {
    const auto& phase = e["ph"].text;
    const bool placed = e.has("pid") && e.has("tid") && e.has("name") && (phase == "M" || e.has("ts"));
    wrong += placed ? 0 : 1;
    if (phase == "X") {
      const double begin = e["ts"].number, length = e["dur"].number;
      wrong += begin >= 0 && length >= 0 ? 0 : 1;
      slices[{static_cast<int>(e["pid"].number), static_cast<int>(e["tid"].number)}].push_back({begin, begin + length});
    } else if (phase == "s" || phase == "f") {
      wrong += e.has("id") && e.has("cat") && (phase == "s" || e["bp"].text == "e") ? 0 : 1;
    } else if (phase == "b" || phase == "e") {
      regions[e["id"].text] += phase == "b" ? 1 : -1;
      wrong += e.has("cat") ? 0 : 1;
    } else if (phase != "M" && phase != "C" && phase != "i") {
      ++wrong;
    }
  }
  CHECK(wrong == 0);
  for (const auto& [id, left] : regions) wrong += left == 0 ? 0 : 1;
  CHECK(wrong == 0);
  for (auto& [track, all] : slices) {
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> ends;
    constexpr double rounding = 0.0015;  // microseconds: three digits are written
    for (const auto& [begin, end] : all) {
      while (!ends.empty() && ends.back() <= begin + rounding) ends.pop_back();
      wrong += ends.empty() || end <= ends.back() + rounding ? 0 : 1;
      ends.push_back(end);
    }
  }
  CHECK(wrong == 0);
}

int count_of(const json& trace, const std::string& phase, const std::string& name) {
  int n = 0;
  for (const auto& e : trace["traceEvents"].list)
    n += e["ph"].text == phase && e["name"].text.find(name) != std::string::npos ? 1 : 0;
  return n;
}

TEST_CASE("a trace has the slices of all tasks of all ranks, their starts, and regions, and keeps to the format") {
  for (const int ranks : {1, 2, 3}) {
    const auto name = file_name("whole");
    plait_test::on_loopback_transports(ranks, [&name](plait::net::transport& end) {
      plait::runtime rt(end, {.workers = 2, .trace = name.c_str()});
      for (int i = 0; i < 2; ++i) rt.run([] { return some_work(25); });
    });
    const auto trace = json::parse(content(name));
    check_format(trace);
    CHECK(trace["otherData"]["dropped"].number == 0);
    CHECK(count_of(trace, "X", "trace_cases::traced") == 50);
    CHECK(count_of(trace, "X", "trace_cases::pauses") >= 50);
    CHECK(count_of(trace, "X", "the root task") >= 2);
    CHECK(count_of(trace, "b", "the pause") == 50);
    CHECK(count_of(trace, "M", "process_name") == ranks);
    CHECK(count_of(trace, "M", "thread_name") == 2 * ranks);
    std::set<std::string> started, begun;
    for (const auto& e : trace["traceEvents"].list) {
      if (e["ph"].text == "s") started.insert(e["id"].text);
      if (e["ph"].text == "f") begun.insert(e["id"].text);
    }
    CHECK(begun.size() == 100);     // each has its own, over all ranks
    for (const auto& id : begun) {  // what a progress thread has sent has no beginning: it is no worker
      if (id[0] == 't') CHECK(started.count(id) == 1);
    }
    for (int r = 0; r < ranks; ++r) CHECK(!exists(name + ".part" + std::to_string(r)));
    std::remove(name.c_str());
  }
}

TEST_CASE("a small ring keeps the newest records, and the trace says how many it has lost") {
  const auto name = file_name("small");
  plait_test::on_loopback_transports(2, [&name](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .trace = name.c_str(), .trace_ring = 64});
    rt.run([] { return some_work(200); });
  });
  const auto trace = json::parse(content(name));
  check_format(trace);
  CHECK(trace["otherData"]["dropped"].number > 500);
  CHECK(count_of(trace, "X", "") <= 2 * 64);
  CHECK(count_of(trace, "X", "") > 5);
  std::remove(name.c_str());
}

TEST_CASE("names of any bytes are whole in a trace") {
  const auto name = file_name("names");
  const std::string hostile = "<script>\"\\\n\xff" + std::string(10000, 'x');
  plait_test::on_loopback_transports(1, [&](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .trace = name.c_str()});
    rt.run([&]() -> plait::task<void> {
      auto t = plait::named(hostile, pauses(1));
      auto f = plait::spawn(std::move(t));
      co_await f;
    });
  });
  const auto text = content(name);
  const auto trace = json::parse(text);
  check_format(trace);
  CHECK(count_of(trace, "X", "<script>\"\\\n?" + std::string(10000, 'x')) >= 1);
  CHECK(text.find("<script>") == std::string::npos);
  std::remove(name.c_str());
}

TEST_CASE("a trace is written also if a run ends by an exception that leaves the runtime") {
  const auto name = file_name("thrown");
  plait_test::on_loopback_transports(2, [&name](plait::net::transport& end) {
    try {
      plait::runtime rt(end, {.workers = 1, .trace = name.c_str()});
      rt.run([]() -> plait::task<void> {
        co_await some_work(5);
        throw std::runtime_error("the end");
      });
      CHECK(false);
    } catch (const std::exception&) {
    }
  });
  const auto trace = json::parse(content(name));
  check_format(trace);
  CHECK(count_of(trace, "X", "trace_cases::traced") == 5);
  std::remove(name.c_str());
}

TEST_CASE("what a killed process leaves is a part from which a trace can be made, and damaged ones are noticed") {
  const auto name = file_name("killed");
  std::string bytes;
  plait_test::on_loopback_transports(1, [&](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .trace = name.c_str()});
    rt.run([&]() -> plait::task<void> {
      co_await some_work(5);
      bytes = content(name + ".part0");  // a kill would leave this
    });
  });
  std::remove(name.c_str());
  const plait::report::trace_part_view part(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  REQUIRE(part.is_sound());
  std::uint64_t dropped = 0;
  const auto trace =
      json::parse(plait::report::whole_trace(plait::report::trace_renderer(part).events(dropped), dropped));
  CHECK(count_of(trace, "X", "trace_cases::traced") == 5);
  CHECK(!plait::report::trace_part_view(part.data(), part.size() - 1).is_sound());
  CHECK(!plait::report::trace_part_view(part.data(), 100).is_sound());
  part.head().ring_records += 1;
  CHECK(!part.is_sound());
  part.head().ring_records -= 1;
  part.head().names_used = part.head().names_capacity + 1;
  CHECK(!part.is_sound());
}

TEST_CASE("a trace that can't be written is an error of the runtime on all ranks") {
  plait_test::on_loopback_transports(2, [](plait::net::transport& end) {
    CHECK_THROWS_AS(plait::runtime(end, {.workers = 1, .trace = "/nowhere/at/all.json"}), plait::error);
  });
}

}  // namespace trace_cases
