// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "program.hpp"

// PLAIT_SIMULATION_SEEDS=N runs more or fewer programs, PLAIT_SIMULATION_SEED=S that of one seed only.

namespace {

std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void check_seed(std::uint64_t seed) {
  const auto o = random_program::run(seed);
  for (const auto& what : o.broken) FAIL_CHECK("PLAIT_SIMULATION_SEED=" << std::to_string(seed) << " finds: " << what);
}

}  // namespace

TEST_CASE("random programs on simulated ranks run every task once and end when all has ended") {
  if (const auto seed = number_in_environment("PLAIT_SIMULATION_SEED", 0); seed != 0) return check_seed(seed);
  const auto seeds = number_in_environment("PLAIT_SIMULATION_SEEDS", PLAIT_ASAN || PLAIT_TSAN ? 100 : 1000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) check_seed(seed);
}

TEST_CASE("programs that have found faults") {
  check_seed(580);  // two idle ranks took a task from each other for ever
}

TEST_CASE("a seed gives the same events at the same times again") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto first = random_program::run(seed);
    const auto second = random_program::run(seed);
    CHECK(first.digest == second.digest);
    CHECK(first.events == second.events);
    CHECK(first.tasks == second.tasks);
  }
  CHECK(random_program::run(1).digest != random_program::run(2).digest);
}
