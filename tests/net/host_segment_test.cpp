// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/host_segment.hpp>

#include <sys/resource.h>

#include <utility>

using plait::base::futex_scope;
using plait::net::host_segment;
using plait::net::segment_name;

TEST_CASE("a segment that was opened is the one that was created") {
  const segment_name name = segment_name::random();
  host_segment mine = host_segment::create(name, 3);
  REQUIRE(mine);
  host_segment theirs = host_segment::open(name, 3);
  REQUIRE(theirs);
  CHECK(mine.secret() > 0);
  CHECK(theirs.secret() == mine.secret());
  theirs.announce(2);
  theirs.announce(2);
  CHECK(mine.announced(2) == 2);
  CHECK(mine.announced(1) == 0);
  theirs.add_cores({5, 0, 8});
  mine.add_cores({1});
  CHECK(mine.cores()[0] == 5);
  CHECK(plait::net::count_cores(theirs.cores()) == 3);
}

TEST_CASE("a segment whose name was removed cannot be opened and goes on working") {
  const segment_name name = segment_name::random();
  host_segment mine = host_segment::create(name, 2);
  REQUIRE(mine);
  mine.remove_name();
  CHECK_FALSE(host_segment::open(name, 2));
  mine.announce(1);
  CHECK(mine.announced(1) == 1);
}

TEST_CASE("a segment's name does not outlive it") {
  const segment_name name = segment_name::random();
  { const host_segment mine = host_segment::create(name, 2); }
  CHECK_FALSE(host_segment::open(name, 2));
  host_segment moved = host_segment::create(name, 2);
  REQUIRE(moved);
  const host_segment target = std::move(moved);
  CHECK_FALSE(moved);  // NOLINT(bugprone-use-after-move): it is empty by contract
  CHECK(target.slots() == 2);
}

TEST_CASE("a segment that exists, is missing, or has another size gives an empty one") {
  const segment_name name = segment_name::random();
  CHECK_FALSE(host_segment::open(name, 2));
  const host_segment mine = host_segment::create(name, 2);
  REQUIRE(mine);
  CHECK_FALSE(host_segment::create(name, 2));
  CHECK(host_segment::open(name, 2));
  CHECK_FALSE(host_segment::open(name, 4));
}

TEST_CASE("a process that can open no more files has names, and no segment") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  bool named = false;
  bool made = true;
  bool opened = true;
  bool thrown = false;
  try {
    const segment_name name = segment_name::random();
    named = name.text() != segment_name{}.text();
    made = static_cast<bool>(host_segment::create(name, 2));
    opened = static_cast<bool>(host_segment::open(name, 2));
  } catch (...) {
    thrown = true;
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(thrown);
  CHECK(named);
  CHECK_FALSE(made);
  CHECK_FALSE(opened);
  CHECK_FALSE(host_segment::create(segment_name{}, 2));  // where there are no random numbers
}

TEST_CASE("a sleep on a slot ends when a frame is announced to it") {
  const segment_name name = segment_name::random();
  host_segment mine = host_segment::create(name, 2);
  REQUIRE(mine);
  const auto ticket = mine.bell(1).prepare();
  mine.announce(1);
  const auto start = std::chrono::steady_clock::now();
  mine.bell(1).wait(ticket, std::chrono::seconds(20), futex_scope::shared);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}
