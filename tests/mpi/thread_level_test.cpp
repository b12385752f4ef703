// SPDX-License-Identifier: BSL-1.0

// An MPI program that initialises MPI itself, with less than MPI_THREAD_MULTIPLE, and makes runtimes between its own
// calls: the level is its argument.
// arguments: single funneled serialized

#include <doctest/doctest.h>
#include <mpi.h>

#include <plait/plait.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../support/doctest_main.hpp"
#include "../support/waiting.hpp"

namespace thread_level_cases {

plait::task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = plait::submit<fib>(n - 1);
  auto b = plait::submit<fib>(plait::cyclic, n - 2);
  const long second = co_await b;
  co_return co_await a + second;
}
int own_worker() { return plait::worker_id(); }
int square(int n) { return n * n; }
int slow_rank(int) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  return plait::rank();
}
int broadcast_number(int number) {
  int n = plait::rank() == 0 ? number : -1;
  MPI_Bcast(&n, 1, MPI_INT, 0, plait::mpi::comm());
  return n;
}
plait::task<long> sum_later(long n) {
  co_await plait::yield();
  long sum = 0;
  MPI_Allreduce(&n, &sum, 1, MPI_LONG, MPI_SUM, plait::mpi::comm());
  co_return sum;
}
bool on_mpi_thread() {
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  return is_main != 0;
}
plait::task<int> one_later() {
  co_await plait::yield();
  co_return 1;
}
/// Whether a coroutine body stays on the thread that may use MPI: after it has given way, forked, and awaited.
plait::task<bool> stays_on_mpi_thread() {
  const int next = (plait::rank() + 1) % plait::size();
  bool stays = on_mpi_thread();
  for (int i = 0; i < 5; ++i) {
    co_await plait::yield();
    stays = stays && on_mpi_thread();
    auto forked = co_await plait::fork(one_later());
    stays = stays && on_mpi_thread();
    co_await plait::submit<square>(plait::on_rank(next), i);
    stays = stays && on_mpi_thread();
    co_await forked;
    stays = stays && on_mpi_thread();
  }
  co_return stays;
}
plait::task<long> awaited_sum(long n) {
  long sum = 0;
  co_await plait::mpi::allreduce(&n, &sum, 1, MPI_LONG, MPI_SUM, plait::mpi::comm());  // its first suspension
  co_await plait::mpi::barrier(plait::mpi::comm());
  co_return sum;
}
/// A plain body that blocks on a task of another rank.
int blocks_on_another_rank(int n) {
  return plait::submit<square>(plait::on_rank((plait::rank() + 1) % plait::size()), n).get();
}
int blocks_on_spmd() {
  int parts = 0;
  for (int call = 0; call < 2; ++call) {
    for (const int part : plait::spmd<one_later>().get()) parts += part;
  }
  return parts;
}
plait::task<void> several_block_on_spmd() {
  std::vector<plait::future<int>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(plait::submit<blocks_on_spmd>(plait::here));
  for (auto& c : calls) CHECK(co_await c == 2 * plait::size());
}
void fail() { throw std::domain_error("fail"); }

plait::task<void> all_kinds() {
  CHECK(co_await fib(10) == 55);
  std::vector<plait::future<int>> squares;
  for (int i = 0; i < 100; ++i)
    squares.push_back(plait::submit<square>(i % 2 == 0 ? plait::cyclic : plait::anywhere, i));
  for (int i = 0; i < 100; ++i) CHECK(co_await squares[static_cast<std::size_t>(i)] == i * i);
  for (int w = 0; w < plait::num_workers(); ++w) {
    CHECK(co_await plait::submit<own_worker>(plait::on_worker(w)) == w);
  }
  for (int r = 0; r < plait::size(); ++r) {
    CHECK_THROWS_AS(co_await plait::submit<fail>(plait::on_rank(r)), std::domain_error);
    CHECK(plait::submit<square>(plait::on_rank(r), 5).get() == 25);
  }
  for (int i = 0; i < 5; ++i) {
    for (const int n : co_await plait::spmd<broadcast_number>(i)) CHECK(n == i);
    for (const long sum : co_await plait::spmd<sum_later>(2)) CHECK(sum == 2L * plait::size());
    for (const bool is_main : co_await plait::spmd<on_mpi_thread>()) CHECK(is_main);
    for (const bool stays : co_await plait::spmd<stays_on_mpi_thread>()) CHECK(stays);
    for (const long sum : co_await plait::spmd<awaited_sum>(3)) CHECK(sum == 3L * plait::size());
    for (const int n : co_await plait::spmd<blocks_on_another_rank>(i)) CHECK(n == i * i);
    co_await plait::submit<square>(plait::cyclic, i);
  }
  const auto ranks = co_await plait::map<slow_rank>(std::vector<int>(20), {.chunk = 2});
  CHECK(ranks.size() == 20);
}

void use(plait::runtime& rt) {
  rt.run(all_kinds());
  int sum = 0;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(rt.run_all(fib(8)) == 21);
  rt.run_all(several_block_on_spmd());
  // The last task to end runs on another worker than the one that may use MPI.
  for (int i = 0; i < 20; ++i) {
    rt.run([]() -> plait::task<void> {
      for (int w = 0; w < plait::num_workers(); ++w) {
        auto f = plait::submit(plait::on_worker(w), [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      }
      co_return;
    });
  }
}

TEST_CASE("a program with this thread level of its own uses runtimes with any number of workers") {
  for (const int workers : {1, 2, 3, 0}) {
    plait::runtime rt(MPI_COMM_WORLD, {.workers = workers});
    CHECK(static_cast<int>(rt.thread_level()) == static_cast<int>(plait::net::current_thread_level()));
    use(rt);
  }
  CHECK(plait::net::mpi_is_alive());
}

TEST_CASE("runtimes on parts of the job work beside each other, and one after another") {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int round = 0; round < 3; ++round) {
    plait::runtime rt(half, {.workers = 1});
    CHECK(rt.size() == (size + 1 - rank % 2) / 2);
    rt.run(all_kinds());
  }
  {
    plait::runtime alone(MPI_COMM_SELF, {.workers = 2});
    CHECK(alone.size() == 1);
    alone.run(all_kinds());
  }
  MPI_Comm_free(&half);
}

TEST_CASE("a runtime made by a thread that may not use MPI is refused, or works") {
  const auto level = plait::net::current_thread_level();
  if (level == plait::thread_level::multiple) return;
  std::string text;
  std::thread other([&] {
    try {
      if (level <= plait::thread_level::funneled) plait::runtime rt(MPI_COMM_SELF, {.workers = 1});
    } catch (const plait::error& e) {
      text = e.what();
    }
  });
  other.join();
  CHECK((level > plait::thread_level::funneled || text.find("thread") != std::string::npos));
}

}  // namespace thread_level_cases

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  int provided = MPI_THREAD_SINGLE;
  if (wanted == "single") {
    MPI_Init(&argc, &argv);
  } else if (wanted == "funneled") {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  } else if (wanted == "serialized") {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  } else {
    std::fprintf(stderr, "thread_level_test: the first argument must be single, funneled or serialized\n");
    return 2;
  }
  const int code = plait_test::run_tests(argc, argv);
  MPI_Finalize();
  return code;
}
