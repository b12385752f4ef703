// SPDX-License-Identifier: BSL-1.0
#pragma once

// Several ranks inside one process: a thread each, joined by the loopback transport.

#include <doctest/doctest.h>

#include <plait/dist/runtime.hpp>
#include <plait/net/loopback.hpp>

#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "waiting.hpp"

namespace plait_test {

/// Calls `body(rank's transport)` on every rank of a new world at once. An exception that leaves it fails the test.
template <class Body>
void on_loopback_transports(int ranks, Body&& body) {
  plait::net::loopback_world world(ranks);
  std::vector<std::thread> threads;
  const waiting_for named("ranks of a loopback world");
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&world, &body, r] {
      try {
        body(world.end(r));
      } catch (const std::exception& e) {
        FAIL_CHECK("rank " << r << " of the loopback threw: " << std::string(e.what()));
      } catch (...) {
        FAIL_CHECK("rank " << r << " of the loopback threw something");
      }
    });
  }
  for (auto& t : threads) t.join();
}

/// The same with a runtime for each rank: `body(runtime&)`.
template <class Body>
void on_loopback(int ranks, plait::options options, Body&& body) {
  on_loopback_transports(ranks, [&](plait::net::transport& end) {
    plait::runtime rt(end, options);
    body(rt);
  });
}

}  // namespace plait_test
