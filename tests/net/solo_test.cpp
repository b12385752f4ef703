// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/solo.hpp>

#include "transport_cases.hpp"

using plait::net::eager_limit;
using plait::net::solo_transport;
using namespace plait_test;

TEST_CASE("a single rank gets the frames that it sends to itself") {
  solo_transport t;
  all_to_all(t, {1, 16, eager_limit - 1, eager_limit, eager_limit + 1}, 3);
  order(t, 300);
}

TEST_CASE("a handler on a single rank sends frames") {
  solo_transport t;
  handler_sends(t, 50);
}

TEST_CASE("a handler on a single rank throws and no frame is lost") {
  solo_transport t;
  handler_throws(t);
}

TEST_CASE("a single rank does not sleep over a frame, loses no wake, and sleeps to its time limit") {
  solo_transport t;
  sleeper_is_woken_by_a_frame(t);
  wake_is_not_lost(t, 30);
  sleep_has_a_time_limit(t, 20);
}

TEST_CASE("collectives of a single rank") {
  solo_transport t;
  collectives(t);
  barrier_has_a_time_limit(t);
}
