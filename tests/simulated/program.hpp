// SPDX-License-Identifier: BSL-1.0
#pragma once

// Random programs on simulated ranks, and what must hold after each.

#include <plait/base/splitmix64.hpp>
#include <plait/net/simulated.hpp>
#include <plait/plait.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace random_program {

class dice {
 public:
  explicit dice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 0x51ed270b) {}
  /// From 0 to n - 1.
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int in) { return below(in) == 0; }

 private:
  plait::base::splitmix64 random_;
};

/// What a seed leads to.
struct outcome {
  std::vector<std::string> broken;  ///< what did not hold; empty if all did
  std::uint64_t digest = 0;
  std::uint64_t events = 0;
  long tasks = 0;
};

/// Runs the program of a seed. disturb: called with the world before it runs. limit: a run that takes longer is broken.
outcome run(std::uint64_t seed, const std::function<void(plait::net::simulated_world&)>& disturb = {},
            std::chrono::nanoseconds limit = std::chrono::seconds(5));

}  // namespace random_program
