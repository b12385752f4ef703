// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/doorbell.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>

using namespace std::chrono_literals;
using plait::base::futex_scope;
using plait::net::doorbell;

TEST_CASE("a ring between prepare and wait ends the wait at once") {
  doorbell bell;
  const auto ticket = bell.prepare();
  bell.ring(futex_scope::process);
  const auto start = std::chrono::steady_clock::now();
  bell.wait(ticket, 20s, futex_scope::process);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("rings before prepare do not end a wait, its time limit does") {
  doorbell bell;
  bell.ring(futex_scope::process);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < 20ms) bell.wait(bell.prepare(), 20ms, futex_scope::process);
  bell.wait(bell.prepare(), -1ms, futex_scope::process);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("a ping-pong over two doorbells loses no ring") {
  doorbell bells[2];
  std::atomic<int> counters[2] = {0, 0};
  constexpr int rounds = 2000;
  const auto play = [&](int me) {
    for (int round = 1; round <= rounds; ++round) {
      if (me == 0 || counters[0] >= round) {
        counters[me] += 1;
        bells[1 - me].ring_if_asleep(futex_scope::process);
      }
      while (counters[1 - me] < round) {
        const auto ticket = bells[me].prepare();
        if (counters[1 - me] >= round) break;
        bells[me].wait(ticket, plait::base::forever, futex_scope::process);
      }
      if (me == 1 && counters[1] < round) {
        counters[1] += 1;
        bells[0].ring_if_asleep(futex_scope::process);
      }
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  CHECK(counters[0] == rounds);
  CHECK(counters[1] == rounds);
}

TEST_CASE("a doorbell in shared memory wakes another process") {
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* bell = new (memory) doorbell;
  auto* flag = new (static_cast<char*>(memory) + 64) std::atomic<int>(0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::usleep(20'000);
    flag->fetch_add(1);
    bell->ring_if_asleep(futex_scope::shared);
    ::_exit(0);
  }
  const auto start = std::chrono::steady_clock::now();
  while (*flag == 0) {
    const auto ticket = bell->prepare();
    if (*flag != 0) break;
    bell->wait(ticket, 20s, futex_scope::shared);
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  ::munmap(memory, 4096);
}
