// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <cstdio>

#include "../support/loopback_ranks.hpp"

// The code of docs/observability.md.
namespace observability_cases {

void step() {}
plait::task<void> search() {
  for (int i = 0; i < 3; ++i) co_await plait::submit<step>();
}

TEST_CASE("what a run did is the difference of two statistics") {
  plait_test::on_loopback_transports(2, [](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = 1, .stats = 2});
    rt.run(search);
    // docs: difference
    const auto before = rt.statistics();  // collective, between runs
    rt.run(search);
    const auto s = rt.statistics() - before;
    for (const auto& t : s.tasks) std::printf("%s: %g s in the mean\n", t.name.c_str(), t.mean());
    // docs: end
    CHECK(s.workers[0].submitted == 3);
  });
}

}  // namespace observability_cases
