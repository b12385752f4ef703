// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/simulated.hpp>
#include <plait/plait.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "../support/captured_stderr.hpp"

using namespace std::chrono_literals;

// Half a minute takes no time here.

namespace stall_cases {

int computes(int seconds) {
  plait::charge(std::chrono::seconds(seconds));
  return seconds;
}
plait::task<int> sleeps(int seconds) {
  co_await plait::sleep_for(std::chrono::seconds(seconds));
  co_return seconds;
}
plait::task<void> ticks(int times, int seconds) {
  for (int i = 0; i < times; ++i) co_await plait::sleep_for(std::chrono::seconds(seconds));
}
int blocks_for(int seconds) { return plait::submit<sleeps>(plait::here, seconds).get(); }

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}

/// So many ranks with so many workers each run the task that `make` makes.
template <class Make>
void simulate(int ranks, int workers, Make make, double stall_warn = 30) {
  plait::net::simulated_world world(ranks);
  world.run([&](plait::net::transport& t) {
    plait::options o;
    o.workers = workers;
    o.stall_warn = stall_warn;
    plait::runtime rt(t, o);
    rt.run(make);
    rt.run([]() -> plait::task<void> { co_return; });  // nothing is left of it
  });
}
/// What is said on stderr meanwhile.
template <class Make>
std::string said(int ranks, int workers, Make make, double stall_warn = 30) {
  plait_test::captured_stderr log;
  simulate(ranks, workers, make, stall_warn);
  return log.text();
}
plait::task<void> waits_for_ever() {
  plait::promise<int> never;
  auto f = never.get_future();
  co_await f;
}

}  // namespace stall_cases

using namespace stall_cases;

TEST_CASE("where nothing runs on any rank for 30 s, each says once what it waits for") {
  for (const int ranks : {1, 2, 3, 6}) {
    for (const int workers : {1, 3}) {
      const auto text = said(ranks, workers, []() -> plait::task<void> {
        auto far = plait::submit<sleeps>(plait::on_rank(plait::size() - 1), 100);
        co_await far;
      });
      CAPTURE(text);
      CHECK(count(text, "nothing has run on any rank for 30") == ranks);
      CHECK(count(text, "plait: rank ") == ranks);
      CHECK(count(text, "suspended at timers, promises or sync objects: 1\n") == 1);
      CHECK(count(text, "waited for from other ranks: 1 (1 x ") == (ranks > 1 ? 1 : 0));
      CHECK(count(text, "here for other ranks: 1 (1 x ") == (ranks > 1 ? 1 : 0));
      CHECK(count(text, "has no tasks: it waits for the others") == (ranks > 2 ? ranks - 2 : 0));
    }
  }
}

TEST_CASE("a task that computes for long on any rank is no stall") {
  for (const int ranks : {1, 2, 5}) {
    CHECK(said(ranks, 2, []() -> plait::task<void> {
            auto far = plait::submit<computes>(plait::on_rank(plait::size() - 1), 1000);
            co_await far;
          }) == "");
    CHECK(said(ranks, 1, []() -> plait::task<void> {
            plait::charge(1000s);
            co_return;
          }) == "");
  }
}

TEST_CASE("a rank on which something runs now and then keeps all from saying that nothing does") {
  for (const int ranks : {1, 2, 4}) {
    CHECK(said(ranks, 2, []() -> plait::task<void> {
            auto far = plait::submit<ticks>(plait::on_rank(plait::size() - 1), 10, 20);
            auto near = plait::submit<sleeps>(plait::here, 200);
            co_await far;
            co_await near;
          }) == "");
  }
}

TEST_CASE("the time counts from when the last rank came to rest, and a second stall is said again") {
  const auto text = said(3, 1, []() -> plait::task<void> {
    auto far = plait::submit<computes>(plait::on_rank(1), 50);
    auto near = plait::submit<sleeps>(plait::here, 75);  // 25 s after the other has ended
    co_await far;
    co_await near;
    co_await plait::sleep_for(35s);
    co_await plait::sleep_for(25s);
    co_await plait::sleep_for(45s);
  });
  CHECK(count(text, "nothing has run on any rank for 30") == 6);
}

TEST_CASE("a worker that blocks in a task is said to") {
  const auto text = said(2, 1, []() -> plait::task<void> {
    blocks_for(60);
    co_return;
  });
  CHECK(count(text, "workers that block in get, wait, or the end of a future: 1\n") == 1);
}

TEST_CASE("nothing is said where PLAIT_STALL_WARN is 0, and another time where it says so") {
  const auto waits = []() -> plait::task<void> { co_await plait::sleep_for(100s); };
  CHECK(said(2, 1, waits, 0) == "");
  CHECK(said(2, 1, waits, 80).find("for 80 s") != std::string::npos);
  CHECK(said(2, 1, waits, 101) == "");
}

TEST_CASE("what never goes on is said before the simulation finds that nothing can happen") {
  plait_test::captured_stderr log;
  const pid_t child = fork();  // a process of its own, since ranks that wait for ever stay
  if (child == 0) {
    try {
      simulate(2, 2, &waits_for_ever);
    } catch (const plait::error&) {
      _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  const auto text = log.text();
  CHECK(count(text, "nothing has run on any rank for 30") == 2);
}
