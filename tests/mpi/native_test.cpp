// SPDX-License-Identifier: BSL-1.0

// Native MPI inside tasks: requests and collectives that tasks await while the worker goes on.

#include <doctest/doctest.h>
#include <mpi.h>

#include <plait/plait.hpp>

#include <chrono>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
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

std::vector<int> numbers(int n, int first = 0) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), first);
  return v;
}

/// The collectives that move something else for each rank; on any communicator over all ranks.
plait::task<void> personal_collectives(MPI_Comm comm) {
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  const int root = ranks - 1;
  const bool is_root = rank == root;
  const auto counted = static_cast<std::size_t>(ranks);

  // Rank r's part is the number 10 * r.
  std::vector<int> parts(counted);
  for (int r = 0; r < ranks; ++r) parts[static_cast<std::size_t>(r)] = 10 * r;
  int mine = -1;
  co_await plait::mpi::scatter(is_root ? parts.data() : nullptr, 1, MPI_INT, &mine, 1, MPI_INT, root, comm);
  CHECK(mine == 10 * rank);

  // Rank r has r + 1 numbers, from r on; they lie one after another.
  std::vector<int> counts(counted);
  std::vector<int> places(counted);
  int total = 0;
  std::vector<int> expected;
  for (int r = 0; r < ranks; ++r) {
    counts[static_cast<std::size_t>(r)] = r + 1;
    places[static_cast<std::size_t>(r)] = total;
    total += r + 1;
    for (const int n : numbers(r + 1, r)) expected.push_back(n);
  }
  const auto own = numbers(rank + 1, rank);
  std::vector<int> to(static_cast<std::size_t>(total), -1);
  co_await plait::mpi::gatherv(own.data(), rank + 1, MPI_INT, to.data(), counts.data(), places.data(), MPI_INT, root,
                               comm);
  if (is_root) CHECK(to == expected);
  std::vector<int> everywhere(static_cast<std::size_t>(total), -1);
  co_await plait::mpi::allgatherv(own.data(), rank + 1, MPI_INT, everywhere.data(), counts.data(), places.data(),
                                  MPI_INT, comm);
  CHECK(everywhere == expected);
  std::vector<int> back(own.size(), -1);
  co_await plait::mpi::scatterv(to.data(), counts.data(), places.data(), MPI_INT, back.data(), rank + 1, MPI_INT, root,
                                comm);
  CHECK(back == own);

  // To rank r goes 100 * rank + r.
  const auto out = numbers(ranks, 100 * rank);
  std::vector<int> in(counted, -1);
  std::vector<int> in_again(counted, -1);
  const std::vector<int> ones(counted, 1);
  const auto one_by_one = numbers(ranks);
  co_await plait::mpi::alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
  co_await plait::mpi::alltoallv(out.data(), ones.data(), one_by_one.data(), MPI_INT, in_again.data(), ones.data(),
                                 one_by_one.data(), MPI_INT, comm);
  for (int r = 0; r < ranks; ++r) CHECK(in[static_cast<std::size_t>(r)] == 100 * r + rank);
  CHECK(in == in_again);

  const int value = rank + 1;
  int upto = -1;
  int before = 0;
  int block = -1;
  co_await plait::mpi::scan(&value, &upto, 1, MPI_INT, MPI_SUM, comm);
  CHECK(upto == (rank + 1) * (rank + 2) / 2);
  co_await plait::mpi::exscan(&value, &before, 1, MPI_INT, MPI_SUM, comm);
  if (rank > 0) CHECK(before == upto - value);
  co_await plait::mpi::reduce_scatter_block(parts.data(), &block, 1, MPI_INT, MPI_SUM, comm);
  CHECK(block == 10 * rank * ranks);
}
plait::task<void> personal_collectives_in_spmd() { co_await personal_collectives(plait::mpi::comm()); }

/// An error of a collective reaches the task that awaits it.
plait::task<bool> bad_root() {
  int value = 0;
  try {
    co_await plait::mpi::bcast(&value, 1, MPI_INT, 1000, plait::mpi::comm());
  } catch (const plait::mpi_error& e) {
    co_return e.error_class() == MPI_ERR_ROOT&& e.call() == "MPI_Ibcast";
  }
  co_return false;
}

void fail_in_mpi() { throw plait::mpi_error(MPI_ERR_ROOT, "MPI_Something"); }

/// Every kind of range of requests. What is awaited in a span is what MPI leaves afterwards.
plait::task<void> ranges_of_requests() {
  const MPI_Comm comm = plait::mpi::comm();
  const int self = plait::rank();
  const auto both = [&](const int& from, int& to, MPI_Request* two) {
    MPI_Irecv(&to, 1, MPI_INT, self, tag, comm, two);
    MPI_Isend(&from, 1, MPI_INT, self, tag, comm, two + 1);
  };
  const int one = 1;
  int a = 0;
  MPI_Request in_array[2];
  both(one, a, in_array);
  co_await plait::mpi::wait_all(in_array);
  CHECK(a == 1);
  CHECK(in_array[0] == MPI_REQUEST_NULL);
  CHECK(in_array[1] == MPI_REQUEST_NULL);
  CHECK((co_await plait::mpi::wait_all(in_array)).size() == 2);  // nothing is left to wait for

  std::vector<MPI_Request> many(2000);
  std::vector<int> received(1000);
  for (std::size_t i = 0; i < 1000; ++i) both(one, received[i], &many[2 * i]);
  const std::span<MPI_Request> first_half = std::span(many).first(1000);
  CHECK((co_await plait::mpi::wait_all(first_half)).size() == 1000);
  CHECK(many[999] == MPI_REQUEST_NULL);
  co_await plait::mpi::wait_all(std::span(many).last(1000));
  CHECK(std::accumulate(received.begin(), received.end(), 0) == 1000);

  int b = 0;
  std::vector<MPI_Request> given(2);
  both(one, b, given.data());
  co_await plait::mpi::wait_all(std::move(given));
  CHECK(b == 1);
  int c = 0;
  std::vector<MPI_Request> copied(2);
  both(one, c, copied.data());
  const auto& not_mine = copied;
  co_await plait::mpi::wait_all(not_mine);
  CHECK(c == 1);
  int d = 0;
  MPI_Request listed[2];
  both(one, d, listed);
  auto by_list = plait::mpi::wait_all({listed[0], listed[1]});
  co_await by_list;
  CHECK(d == 1);
  CHECK((co_await plait::mpi::wait_all(std::vector<MPI_Request>())).empty());

  int e = 0;
  MPI_Request persistent[2];
  MPI_Recv_init(&e, 1, MPI_INT, self, tag, comm, &persistent[0]);
  MPI_Send_init(&one, 1, MPI_INT, self, tag, comm, &persistent[1]);
  for (int round = 0; round < 3; ++round) {
    e = 0;
    MPI_Startall(2, persistent);
    co_await plait::mpi::wait_all(persistent);
    CHECK(e == 1);
    CHECK(persistent[0] != MPI_REQUEST_NULL);
  }
  for (auto& p : persistent) MPI_Request_free(&p);
}

/// One message is too long for its place, the others come later: all have ended when the task goes on.
plait::task<bool> one_request_fails() {
  const MPI_Comm comm = plait::mpi::comm();
  const int self = plait::rank();
  const auto long_one = numbers(50);
  int short_place[2] = {};
  int late = 0;
  std::vector<MPI_Request> receives(2);
  MPI_Irecv(short_place, 2, MPI_INT, self, tag, comm, &receives[0]);
  MPI_Irecv(&late, 1, MPI_INT, self, tag + 1, comm, &receives[1]);
  MPI_Request sends[2];
  MPI_Isend(long_one.data(), 50, MPI_INT, self, tag, comm, &sends[0]);
  auto sender = plait::spawn([](MPI_Comm on, MPI_Request* request) -> plait::task<void> {
    static const int value = 7;
    co_await plait::sleep_for(std::chrono::milliseconds(5));
    MPI_Isend(&value, 1, MPI_INT, plait::rank(), tag + 1, on, request);
  }(comm, &sends[1]));
#ifdef OPEN_MPI
  bool truncated = true;  // its MPI_Test says nothing of it
#else
  bool truncated = false;
#endif
  try {
    co_await plait::mpi::wait_all(receives);
  } catch (const plait::mpi_error& e) {
    truncated = e.error_class() == MPI_ERR_TRUNCATE;
  }
  const bool all_there = late == 7;
  co_await sender;
  try {
    co_await plait::mpi::wait_all(sends);
  } catch (const plait::mpi_error&) {  // the sender of a message to itself may be told too
  }
  co_return truncated&& all_there;
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

TEST_CASE("collectives with a part for each rank, in spmd bodies") {
  for (const int workers : {1, 2}) {
    plait::runtime rt(MPI_COMM_WORLD, {.workers = workers});
    rt.run([]() -> plait::task<void> { co_await plait::spmd<personal_collectives_in_spmd>(); });
  }
}

TEST_CASE("collectives on a communicator of the program's own, in any task") {
  own_comm();
  plait::runtime rt(MPI_COMM_WORLD, {.workers = 1});
  rt.run_all(personal_collectives(own_comm()));
}

TEST_CASE("an error of a collective reaches who awaits it") {
  plait::runtime rt(MPI_COMM_WORLD, {.workers = 1});
  rt.run([]() -> plait::task<void> {
    for (const bool so : co_await plait::spmd<bad_root>()) CHECK(so);
  });
}

TEST_CASE("an mpi_error arrives as itself from any rank") {
  plait::runtime rt(MPI_COMM_WORLD);
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      auto failing = plait::submit<fail_in_mpi>(plait::on_rank(r));
      bool as_itself = false;
      try {
        co_await failing;
      } catch (const plait::mpi_error& e) {
        as_itself = e.error_class() == MPI_ERR_ROOT && e.call() == "MPI_Something" && !e.text().empty() &&
                    std::string(e.what()).find(e.text()) != std::string::npos;
      }
      CHECK(as_itself);
    }
  });
}

TEST_CASE("wait_all takes any contiguous range of requests") {
  plait::runtime rt(MPI_COMM_WORLD, {.workers = 2});
  rt.run([]() -> plait::task<void> { co_await plait::spmd<ranges_of_requests>(); });
}

TEST_CASE("wait_all throws the first error when all requests have ended") {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // MPICH calls this one's, whatever the message's says
  plait::runtime rt(MPI_COMM_WORLD, {.workers = 1});
  rt.run([]() -> plait::task<void> {
    for (const bool so : co_await plait::spmd<one_request_fails>()) CHECK(so);
  });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
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
