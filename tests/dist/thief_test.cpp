// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/dist/thief.hpp>
#include <plait/net/simulated.hpp>

#include <cstdint>
#include <vector>

// Whom a rank asks for tasks.

TEST_CASE("a rank asks those on its own host first, also while it still has work") {
  plait::net::simulated_network pairs;
  pairs.ranks_per_host = 2;
  std::vector<int> asked_early(6, -1);
  std::vector<int> asked(6, -1);
  plait::net::simulated_world world(6, 1, pairs);
  world.run([&](plait::net::transport& t) {
    const auto self = static_cast<std::size_t>(t.rank());
    plait::dist::thief thief(t);
    CHECK(thief.wants_to_ask_early());
    asked_early[self] = thief.early_victim();
    CHECK_FALSE(thief.wants_to_ask());
    thief.answered(0);
    CHECK_FALSE(thief.wants_to_ask_early());  // once, until tasks come
    CHECK(thief.wants_to_ask());
    asked[self] = thief.next_victim([] { return std::uint64_t{12345}; }, [](int) {});
  });
  CHECK(asked_early == std::vector<int>{1, 0, 3, 2, 5, 4});
  CHECK(asked == asked_early);
}

TEST_CASE("a rank that is alone on its host asks any other") {
  plait::net::simulated_world world(5);
  std::vector<int> asked(5, 0);
  world.run([&](plait::net::transport& t) {
    plait::dist::thief thief(t);
    for (int i = 0; i < 200; ++i) {
      thief.task_came(0);
      const int victim = thief.early_victim();
      CHECK(victim != t.rank());
      if (t.rank() == 2) ++asked[static_cast<std::size_t>(victim)];
      thief.answered(0);
    }
  });
  for (const int r : {0, 1, 3, 4}) CHECK(asked[static_cast<std::size_t>(r)] > 0);
}
