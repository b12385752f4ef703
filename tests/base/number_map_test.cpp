// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/base/number_map.hpp>

#include <cstdint>
#include <map>

namespace number_map_cases {

TEST_CASE("a map of numbers does what std::map does, whatever is set and erased") {
  for (const std::uint64_t spread : {1u, 64u, 1u << 20}) {
    plait::base::number_map ours;
    std::map<std::uint64_t, std::uint64_t> theirs;
    std::uint64_t random = 42;
    for (int step = 0; step < 20000; ++step) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const auto key = (1 + (random >> 33) % 300) * spread;
      if ((random >> 60) < 9) {
        ours.set(key, random);
        theirs[key] = random;
      } else {
        ours.erase(key);
        theirs.erase(key);
      }
      REQUIRE(ours.size() == theirs.size());
      if (step % 500 != 0) continue;
      for (std::uint64_t k = 1; k <= 300; ++k) {
        const auto* found = ours.find(k * spread);
        const auto there = theirs.find(k * spread);
        REQUIRE((found != nullptr) == (there != theirs.end()));
        if (found != nullptr) REQUIRE(*found == there->second);
      }
    }
  }
}

TEST_CASE("an empty map of numbers finds and erases nothing") {
  plait::base::number_map none;
  none.erase(7);
  CHECK(none.find(7) == nullptr);
  CHECK(none.size() == 0);
}

}  // namespace number_map_cases
