// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/mpi_protocol.hpp>

using plait::net::eager_limit;
using plait::net::frame;
using plait::net::mpi_protocol;

TEST_CASE("an announcement tells its size, and a frame that looks like one is announced itself") {
  frame message;
  mpi_protocol::write_announcement(message, 5'000'000'000);
  REQUIRE(mpi_protocol::announced_size(message).has_value());
  CHECK(*mpi_protocol::announced_size(message) == 5'000'000'000);
  CHECK_FALSE(mpi_protocol::is_eager(message));
  CHECK(mpi_protocol::is_eager(frame(16)));
  CHECK(mpi_protocol::is_eager(frame(eager_limit)));
  CHECK_FALSE(mpi_protocol::is_eager(frame(eager_limit + 1)));
  message.resize(17);
  CHECK(mpi_protocol::is_eager(message));
  message.resize(15);
  CHECK(mpi_protocol::is_eager(message));
}

TEST_CASE("a body is cut into chunks that an int can count") {
  CHECK(mpi_protocol::chunks(1, 10) == 1);
  CHECK(mpi_protocol::chunks(10, 10) == 1);
  CHECK(mpi_protocol::chunks(11, 10) == 2);
  CHECK(mpi_protocol::chunks(5 * mpi_protocol::chunk_limit, mpi_protocol::chunk_limit) == 5);
  CHECK(mpi_protocol::chunk_limit <= std::size_t{1} << 30);
}
