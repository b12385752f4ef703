// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/dist/environment.hpp>
#include <plait/net/mpi_transport.hpp>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../net/transport_cases.hpp"

using plait::net::communicator;
using plait::net::eager_limit;
using plait::net::mpi_transport;
using plait::net::mpi_transport_options;
using namespace plait_test;

namespace {

/// A transport over MPI_COMM_WORLD for one case; at its end no frame may be left.
class world_transport {
 public:
  explicit world_transport(mpi_transport_options options = {})
      : transport_(communicator::duplicate(MPI_COMM_WORLD, "plait test"), options) {}
  ~world_transport() {
    transport_.barrier();
    int unmatched = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, transport_.comm(), &unmatched, MPI_STATUS_IGNORE);
    CHECK(unmatched == 0);
    CHECK(transport_.close() == 0);
  }
  mpi_transport& operator*() { return transport_; }
  mpi_transport* operator->() { return &transport_; }

 private:
  mpi_transport transport_;
};

const std::vector<std::size_t> sizes = {1, 16, eager_limit - 1, eager_limit, eager_limit + 1, 1 << 20};

}  // namespace

TEST_CASE("ranks exchange frames of all sizes") {
  world_transport t;
  all_to_all(*t, sizes, 3);
}

TEST_CASE("large frames travel in chunks") {
  world_transport t({.chunk = 10'000});
  all_to_all(*t, {eager_limit, eager_limit + 1, 30'000, 300'001}, 2);
}

TEST_CASE("frames travel without shared memory, and where one rank has none") {
  {
    world_transport t({.use_segment = false});
    CHECK(t->wakes_at_once() == (t->size() == 1));
    all_to_all(*t, sizes, 1);
    sleeper_is_woken_by_a_frame(*t);
    wake_is_not_lost(*t, 10);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  world_transport t({.use_segment = rank != 1});
  CHECK(t->wakes_at_once() == (t->size() == 1));
  all_to_all(*t, sizes, 1);
  sleeper_is_woken_by_a_frame(*t);
}

TEST_CASE("ranks of one host are woken through shared memory") {
  world_transport t;
  CHECK(t->wakes_at_once());
}

TEST_CASE("small frames keep their order") {
  world_transport t;
  order(*t, 300);
}

TEST_CASE("a small frame that looks like an announcement arrives as it is") {
  world_transport t;
  frame lookalike;
  plait::net::mpi_protocol::write_announcement(lookalike, 12345);
  const frame expected = lookalike;
  for (int dest = 0; dest < t->size(); ++dest) t->send(dest, frame(lookalike));
  int arrived = 0;
  pump(
      *t,
      [&](int, bytes_view bytes) {
        ++arrived;
        CHECK(std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end()));
      },
      [&] { return arrived == t->size(); }, "frames that look like announcements");
}

TEST_CASE("a handler sends frames") {
  world_transport t;
  handler_sends(*t, 60);
}

TEST_CASE("a handler throws and no frame is lost") {
  world_transport t;
  handler_throws(*t);
}

TEST_CASE("a sleeping rank is woken by a frame") {
  world_transport t;
  sleeper_is_woken_by_a_frame(*t);
}

TEST_CASE("a wake from another thread is not lost") {
  world_transport t;
  wake_is_not_lost(*t, 30);
}

TEST_CASE("a quiet rank sleeps to its time limit") {
  world_transport t;
  sleep_has_a_time_limit(*t, 20);
}

TEST_CASE("a rank whose large frame is not taken waits without using much of a core") {
  world_transport t;
  waiting_sender_uses_little(*t);
}

TEST_CASE("collectives of the start, and a barrier with a time limit") {
  world_transport t;
  collectives(*t);
  barrier_has_a_time_limit(*t);
  hosts(*t);
  errors(*t);
}

TEST_CASE("two transports do not see each other's frames") {
  world_transport first;
  world_transport second;
  const int right = (first->rank() + 1) % first->size();
  int in_first = 0;
  int in_second = 0;
  constexpr int frames = 200;
  for (int i = 0; i < frames; ++i) {
    first->send(right, frame(10));
    second->send(right, frame(i % 20 == 0 ? 40'000 : 20));
  }
  while (in_first < frames || in_second < frames || first->sends_pending() || second->sends_pending()) {
    first->poll([&](int, bytes_view bytes) { in_first += bytes.size() == 10 ? 1 : 1000; });
    second->poll([&](int, bytes_view bytes) { in_second += bytes.size() != 10 ? 1 : 1000; });
    std::this_thread::yield();
  }
  CHECK(in_first == frames);
  CHECK(in_second == frames);
  first->barrier();
}

TEST_CASE("transports come and go") {
  for (int i = 0; i < 20; ++i) {
    world_transport t;
    all_to_all(*t, {100, 20'000}, 1);
  }
}

TEST_CASE("transports work on parts of the job") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    mpi_transport t(communicator::duplicate(half, "plait half"));
    all_to_all(t, {100, 20'000}, 2);
  }
  MPI_Comm_free(&half);
}

TEST_CASE("a communicator that cannot be used is refused, and errors of MPI are exceptions") {
  CHECK_THROWS_AS(communicator::duplicate(MPI_COMM_NULL, "none"), plait::error);
  const communicator comm = communicator::duplicate(MPI_COMM_WORLD, "plait named");
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  MPI_Comm_get_name(comm.get(), name, &length);
  CHECK(std::string(name) == "plait named");
  try {
    int nothing = 0;
    plait::net::check(MPI_Send(&nothing, 1, MPI_INT, comm.size() + 7, 0, comm.get()), "MPI_Send");
    FAIL("a send to nobody succeeded");
  } catch (const plait::mpi_error& e) {
    CHECK(e.error_class() == MPI_ERR_RANK);
    CHECK(e.call() == "MPI_Send");
    CHECK(!e.text().empty());
    CHECK(std::string(e.what()).find("MPI_Send failed: ") != std::string::npos);
  }
}

TEST_CASE("an environment beside MPI that is initialised leaves it alive") {
  {
    const plait::environment outer;
    const plait::environment inner;
    CHECK(outer.thread_level() == inner.thread_level());
    CHECK(plait::net::is_mpi_thread());
  }
  CHECK(plait::net::mpi_is_alive());
}

TEST_CASE("a frame of more than 2 GiB arrives" * doctest::skip(std::getenv("PLAIT_TEST_LARGE") == nullptr)) {
  world_transport t;
  const std::size_t size = (std::size_t{1} << 31) + 4099;
  const auto last = static_cast<std::byte>(0x5a);
  bool arrived = t->rank() != t->size() - 1;
  if (t->rank() == 0) {
    frame out(size);
    out[std::size_t{1} << 30] = last;
    out.back() = last;
    t->send(t->size() - 1, std::move(out));
  }
  pump(
      *t,
      [&](int, bytes_view bytes) {
        arrived = true;
        CHECK(bytes.size() == size);
        CHECK(bytes.back() == last);
        CHECK(bytes[std::size_t{1} << 30] == last);
      },
      [&] { return arrived; }, "a frame of more than 2 GiB");
}
