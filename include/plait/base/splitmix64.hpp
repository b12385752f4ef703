// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstdint>

PLAIT_INTERFACE

namespace plait::base {

/// A generator of random numbers, all 64 bits of which are good, from any seed: SplitMix64 (Steele, Lea, Flood: Fast
/// splittable pseudorandom number generators, OOPSLA 2014).
class splitmix64 {
 public:
  explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t operator()() noexcept {
    auto z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

}  // namespace plait::base
