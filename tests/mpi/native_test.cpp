// SPDX-License-Identifier: BSL-1.0

// Native MPI inside tasks: requests and collectives that tasks await while the worker goes on.

#include <doctest/doctest.h>
#include <mpi.h>

#include <plait/plait.hpp>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "../support/doctest_main.hpp"
#include "../support/waiting.hpp"

namespace {

MPI_Comm own_comm() {
  static MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    return made;
  }();
  return comm;
}

constexpr int tag = 7;

/// Each rank sends to the next and receives from the one before, on the communicator of spmd bodies.
plait::task<int> ring() {
  const MPI_Comm comm = plait::mpi::comm();
  const int right = (plait::rank() + 1) % plait::size();
  const int left = (plait::rank() + plait::size() - 1) % plait::size();
  const int sent = plait::rank();
  int received = -1;
  std::vector<MPI_Request> requests(2);
  MPI_Irecv(&received, 1, MPI_INT, left, tag, comm, &requests[0]);
  MPI_Isend(&sent, 1, MPI_INT, right, tag, comm, &requests[1]);
  const std::vector<MPI_Status> statuses = co_await plait::mpi::wait_all(requests);
  CHECK(statuses[0].MPI_SOURCE == left);
  co_return received;
}

plait::task<int> collectives(int round) {
  const MPI_Comm comm = plait::mpi::comm();
  const int ranks = plait::size();
  const int mine = plait::rank() + round;
  int sum = 0;
  co_await plait::mpi::barrier(comm);
  co_await plait::mpi::allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == ranks * (ranks - 1) / 2 + ranks * round);
  int broadcast = plait::rank() == ranks - 1 ? round : -1;
  co_await plait::mpi::bcast(&broadcast, 1, MPI_INT, ranks - 1, comm);
  CHECK(broadcast == round);
  int highest = -1;
  co_await plait::mpi::reduce(&mine, &highest, 1, MPI_INT, MPI_MAX, 0, comm);
  CHECK((plait::rank() != 0 || highest == ranks - 1 + round));
  std::vector<int> all(static_cast<std::size_t>(ranks), -1);
  co_await plait::mpi::allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  std::vector<int> gathered(static_cast<std::size_t>(ranks), -1);
  co_await plait::mpi::gather(&mine, 1, MPI_INT, gathered.data(), 1, MPI_INT, 0, comm);
  for (int r = 0; r < ranks; ++r) {
    CHECK(all[static_cast<std::size_t>(r)] == r + round);
    CHECK((plait::rank() != 0 || gathered[static_cast<std::size_t>(r)] == r + round));
  }
  co_return sum;
}

plait::task<void> alternate() {
  for (int round = 0; round < 10; ++round) {
    const auto from = co_await plait::spmd<ring>();
    for (int r = 0; r < plait::size(); ++r) {
      CHECK(from[static_cast<std::size_t>(r)] == (r + plait::size() - 1) % plait::size());
    }
    const auto sums = co_await plait::spmd<collectives>(round);
    CHECK(static_cast<int>(sums.size()) == plait::size());
  }
}

void send_late(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const int value = 5;
  MPI_Send(&value, 1, MPI_INT, 0, tag, own_comm());
  // Nothing else reaches rank 0 for a while: it must notice by itself.
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
}

plait::task<void> receive_late() {
  auto sender = plait::submit<send_late>(plait::on_rank(plait::size() - 1), 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // by now another worker listens, if there is one
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&value, 1, MPI_INT, plait::size() - 1, tag, own_comm(), &request);
  const auto start = std::chrono::steady_clock::now();
  co_await plait::mpi::wait(request);
  CHECK(value == 5);
  // With a single worker on one rank the sender keeps it busy.
  if (plait::size() > 1) CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(800));
  co_await sender;
}

}  // namespace

TEST_CASE("spmd bodies await requests and collectives, time and again, with any number of workers") {
  for (const int workers : {1, 2, 3}) {
    plait::runtime rt(MPI_COMM_WORLD, {.workers = workers});
    rt.run(alternate());
  }
}

TEST_CASE("a request that ends while all workers are idle is noticed, also where another worker listens") {
  own_comm();
  for (const int workers : {1, 2, 3}) {
    plait::runtime rt(MPI_COMM_WORLD, {.workers = workers, .stealing = 0});
    rt.run(receive_late());
  }
}

TEST_CASE("mpi::comm outside of an spmd body is an error") {
  plait::runtime rt(MPI_COMM_WORLD, {.workers = 1});
  rt.run([]() -> plait::task<void> {
    CHECK_THROWS_AS(plait::mpi::comm(), plait::error);
    co_return;
  });
}

TEST_CASE("a table of statistics that only some ranks ask for is rank 0's decision") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const int asks : {0, 1}) {
    plait::runtime rt(MPI_COMM_WORLD, {.workers = 1, .stats = rank == asks ? 1 : 0});
    rt.run([]() -> plait::task<void> { co_return; });
  }
}
