// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/simulated.hpp>
#include <plait/plait.hpp>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

int compute(int i) {
  plait::charge(1ms);
  return i;
}

plait::task<int> study() {
  std::vector<int> numbers(640, 1);
  int sum = 0;
  for (const int i : co_await plait::map<compute>(numbers, {.chunk = 1})) sum += i;
  co_return sum;
}

plait::task<std::string> block() {
  try {
    co_await plait::blocking([] {});
  } catch (const plait::error& e) {
    co_return e.what();
  }
  co_return "";
}

plait::task<int> sleeps(std::vector<char> large) {
  co_await plait::sleep_for(10s);
  co_return static_cast<int>(large.size());
}

plait::task<bool> stops_what_is_under_way() {
  auto far = plait::submit<sleeps>(plait::on_rank(1), std::vector<char>(10'000'000));
  co_await plait::sleep_for(20us);  // it has left, and takes a millisecond
  if (far.cancel()) co_return false;
  try {
    co_await far;
  } catch (const plait::cancelled_error&) {
    co_return true;
  }
  co_return false;
}

}  // namespace

TEST_CASE("a request to stop that overtakes its task waits for it") {
  plait::net::simulated_world world(2, 1, {.latency = 2us, .bytes_per_second = 10e9});
  bool stopped = false;
  world.run([&](plait::net::transport& t) {
    plait::runtime rt(t, {.workers = 1});
    if (rt.run([] { return stops_what_is_under_way(); }).value_or(false)) stopped = true;
  });
  CHECK(stopped);
  CHECK(world.time() < 100ms);
}

TEST_CASE("tasks that charge time are spread over simulated ranks, in virtual time") {
  int sum = 0;
  plait::net::simulated_world world(64, 1, {.latency = 2us, .bytes_per_second = 10e9});
  world.run([&](plait::net::transport& t) {  // once for each rank
    plait::runtime rt(t, {.workers = 1});
    sum += rt.run([] { return study(); }).value_or(0);
  });
  CHECK(sum == 640);
  CHECK(world.time() >= 10ms);
  CHECK(world.time() < 40ms);  // one rank would take 640
  CHECK(world.undelivered() == 0);
}

TEST_CASE("sleeping and timers take virtual time in a simulation, and charge takes none elsewhere") {
  plait::net::simulated_world world(2);
  bool slept = false;
  world.run([&](plait::net::transport& t) {
    plait::runtime rt(t, {.workers = 2});
    rt.run([&]() -> plait::task<void> {
      const auto before = world.time();
      co_await plait::sleep_for(10s);
      slept = world.time() - before >= 10s && world.time() - before < 10s + 10ms;
    });
  });
  CHECK(slept);
  plait::charge(1000h);
}

TEST_CASE("a call on a thread for blocking calls is an error in a simulation") {
  plait::net::simulated_world world(1);
  std::string said;
  world.run([&](plait::net::transport& t) {
    plait::runtime rt(t, {.workers = 1});
    said = rt.run([] { return block(); }).value_or("");
  });
  CHECK(said.find("simulation") != std::string::npos);
}

TEST_CASE("what a rank throws leaves the simulation") {
  plait::net::simulated_world world(3);
  CHECK_THROWS_AS(world.run([](plait::net::transport& t) {
    t.barrier();
    if (t.rank() == 1) throw std::logic_error("one");
  }),
                  std::logic_error);
}
