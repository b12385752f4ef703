// SPDX-License-Identifier: BSL-1.0

// The checks of random programs find faults: networks that lose or double a frame.

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "program.hpp"

namespace {

enum class verdict { nothing_was_wrong, found, no_such_frame };

/// In a process of its own, since ranks that wait for ever stay. frame: the one that arrives `copies` times.
verdict run_with_fault(std::uint64_t seed, int frame, int copies) {
  const pid_t child = fork();
  if (child == 0) {
    bool reached = false;
    const auto o = random_program::run(
        seed,
        [&](plait::net::simulated_world& world) {
          world.set_copies([&reached, frame, copies, sent = 0](int source, int dest, const plait::net::frame&) mutable {
            if (source == dest || sent++ != frame) return 1;
            reached = true;
            return copies;
          });
        },
        std::chrono::milliseconds(100));
    const auto v = !reached ? verdict::no_such_frame : o.broken.empty() ? verdict::nothing_was_wrong : verdict::found;
    _exit(static_cast<int>(v));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return verdict::found;  // a doubled result may refer to what is gone
  return static_cast<verdict>(WEXITSTATUS(status));
}

void check_found(int copies) {
  constexpr int seeds = PLAIT_ASAN ? 4 : 12;  // where a process of its own for each costs more
  int found = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const int frame : {0, 7, 40}) {
      const auto v = run_with_fault(seed, frame, copies);
      if (v == verdict::nothing_was_wrong)
        FAIL_CHECK("the fault in frame " << frame << " of seed " << std::to_string(seed) << " was not found");
      if (v == verdict::found) ++found;
    }
  }
  CHECK(found >= seeds * 5 / 6);
}

}  // namespace

TEST_CASE("a frame that is lost is found") { check_found(0); }

TEST_CASE("a frame that arrives twice is found") { check_found(2); }
