// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/simulated.hpp>
#include <plait/plait.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../support/captured_stderr.hpp"

using namespace std::chrono_literals;

// Tasks take the time that they charge, and nothing else does.

namespace graph_cases {

void one_of_a_series(int) { plait::charge(20ms); }
void one_beside_others(int) { plait::charge(50ms); }
plait::task<void> three_then_four() {
  for (int i = 0; i < 3; ++i) co_await plait::submit<one_of_a_series>(plait::here, i);
  std::vector<plait::future<void>> all;
  for (int i = 0; i < 4; ++i) all.push_back(plait::submit<one_beside_others>(plait::here, i));
  co_await plait::when_all(std::move(all));
}
plait::task<void> one_on_each_rank() {
  std::vector<plait::future<void>> all;
  for (int r = 0; r < plait::size(); ++r) all.push_back(plait::submit<one_beside_others>(plait::on_rank(r), r));
  co_await plait::when_all(std::move(all));
  co_await plait::submit<one_of_a_series>(plait::on_rank(plait::size() - 1), 0);
}
plait::task<int> sleeper() {
  plait::charge(10ms);
  co_await plait::sleep_for(1s);
  plait::charge(10ms);
  co_return 1;
}
plait::task<void> a_spawned_one_that_sleeps() {
  auto f = plait::spawn(sleeper());
  co_await f;
  plait::charge(5ms);
}

struct outcome {
  std::string said, dot;
};

outcome graph_of(int ranks, int workers, plait::task<void> (*root)()) {
  const std::string name = "/tmp/plait_graph_" + std::to_string(::getpid()) + ".dot";
  plait_test::captured_stderr captured;
  plait::net::simulated_world world(ranks);
  world.run([&](plait::net::transport& t) {
    plait::options o;
    o.workers = workers;
    o.graph = name.c_str();
    plait::runtime rt(t, o);
    rt.run(root);
  });
  std::stringstream content;
  content << std::ifstream(name).rdbuf();
  std::remove(name.c_str());
  return {captured.text(), content.str()};
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("work, span and parallelism of tasks in series and then side by side are exact") {
  for (const int workers : {1, 2, 3}) {
    const auto o = graph_of(1, workers, &three_then_four);
    has(o.said, "plait: tasks: work 0.260000 s, span 0.110000 s, average parallelism 2.36\n");
    has(o.dot, "digraph tasks {");
    has(o.dot, "one_of_a_series\\n3, 0.060000 s\"]");
    has(o.dot, "one_beside_others\\n4, 0.200000 s\"]");
  }
}

TEST_CASE("they are those of all ranks together") {
  const auto o = graph_of(3, 1, &one_on_each_rank);
  has(o.said, "plait: tasks: work 0.170000 s, span 0.070000 s, average parallelism 2.43\n");
  has(o.dot, "[label=\"3\"]");
  has(o.dot, "style=dashed");
}

TEST_CASE("a time in which a task sleeps is no work") {
  const auto o = graph_of(1, 2, &a_spawned_one_that_sleeps);
  has(o.said, "plait: tasks: work 0.025000 s, span 0.025000 s, average parallelism 1.00\n");
}

}  // namespace graph_cases
