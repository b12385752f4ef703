// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/dist/whereabouts.hpp>

// Where a task has gone, as its rank learns it.

TEST_CASE("a request to stop before a task leaves goes to the rank that gets it") {
  plait::dist::whereabouts task;
  CHECK(task.want_stop() == -1);
  CHECK(task.moved(3, 1));
}

TEST_CASE("the rank that has a task is told once, and each one that gets it later") {
  plait::dist::whereabouts task;
  CHECK_FALSE(task.moved(0, 1));
  CHECK(task.want_stop() == 0);
  CHECK(task.want_stop() == -1);
  CHECK(task.moved(2, 2));
  CHECK(task.moved(0, 3));
}

TEST_CASE("news of an earlier move that come late are no news") {
  plait::dist::whereabouts task;
  CHECK_FALSE(task.moved(2, 2));
  CHECK_FALSE(task.moved(1, 1));
  CHECK(task.want_stop() == 2);
  CHECK_FALSE(task.moved(1, 1));
}
