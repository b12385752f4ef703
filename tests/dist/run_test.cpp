// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "../support/ranks_case.hpp"

namespace run_cases {

#if !PLAIT_WITH_MPI
TEST_CASE("without MPI an environment does nothing") {
  int argc = 0;
  char** argv = nullptr;
  const plait::environment with_arguments(argc, argv);
  const plait::environment outer;
  plait::runtime rt(argc, argv);
  CHECK(rt.size() == 1);
  CHECK(outer.thread_level() == rt.thread_level());
}
#endif

using plait_test::detach;
using plait_test::sum_over_ranks;

plait::task<int> number(int n) { co_return n; }
plait::task<void> nothing() { co_return; }
plait::task<std::unique_ptr<int>> boxed(int n) { co_return std::make_unique<int>(n); }

struct own_failure : std::runtime_error {
  explicit own_failure(int d) : std::runtime_error("own failure"), detail(d) {}
  int detail;
};

plait::task<int> fail_with_own(int detail) {
  throw own_failure(detail);
  co_return 0;
}

/// Counts a call on the rank where it is made.
plait::rank_local<std::atomic<long>> calls;
void count() { calls->fetch_add(1); }
long calls_on_all_ranks(plait::runtime& rt) { return sum_over_ranks(rt, calls.get(rt).exchange(0)); }

void count_slowly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  count();
}

plait::task<void> throw_beside_tasks(int tasks) {
  for (int i = 0; i < tasks; ++i) detach(plait::submit<count_slowly>(plait::cyclic));
  throw std::out_of_range("the root is through");
  co_return;
}

plait::task<int> throw_from(int first_rank, int tasks) {
  for (int i = 0; i < tasks; ++i) detach(plait::submit<count>());
  if (plait::rank() >= first_rank) throw std::out_of_range("rank " + std::to_string(plait::rank()));
  co_return plait::rank();
}

// A chain of tasks that nobody waits for.
void detached_chain(int left) {
  count();
  if (left > 0) detach(plait::submit<detached_chain>(plait::on_rank((plait::rank() + 1) % plait::size()), left - 1));
}

plait::task<void> detached_coroutine(int left) {
  co_await plait::yield();
  count();
  if (left > 0) detach(plait::submit<detached_coroutine>(plait::anywhere, left - 1));
  detach(plait::spawn([]() -> plait::task<void> {
    co_await plait::yield();
    count();
  }()));
}

long executed_here(const plait::runtime& rt) {
  long sum = 0;
  for (const auto& w : rt.local_statistics()) sum += static_cast<long>(w.executed);
  return sum;
}

RANKS_CASE("run gives its result on rank 0 and nothing elsewhere") {
  const auto n = rt.run(number(42));
  static_assert(std::is_same_v<decltype(n), const std::optional<int>>);
  CHECK(n.has_value() == (rt.rank() == 0));
  CHECK(n.value_or(42) == 42);

  static_assert(std::is_same_v<decltype(rt.run(nothing())), bool>);
  CHECK(rt.run(nothing()) == (rt.rank() == 0));

  auto box = rt.run(boxed(7));
  CHECK(box.has_value() == (rt.rank() == 0));
  if (box) CHECK(**box == 7);
}

plait::task<int> gives_seven() { co_return 7; }

RANKS_CASE("run takes a coroutine function by its name, as a pointer, and as a lambda") {
  plait::task<int> (*const pointer)() = &gives_seven;
  const int expected = rt.rank() == 0 ? 7 : -1;
  CHECK(rt.run(gives_seven).value_or(-1) == expected);
  CHECK(rt.run(&gives_seven).value_or(-1) == expected);
  CHECK(rt.run(pointer).value_or(-1) == expected);
  CHECK(rt.run([] { return gives_seven(); }).value_or(-1) == expected);
}

RANKS_CASE("run calls a callable on rank 0 only") {
  int made = 0;
  const auto n = rt.run([&] {
    ++made;
    return number(5);
  });
  CHECK(made == (rt.rank() == 0 ? 1 : 0));
  CHECK(n.value_or(5) == 5);
  CHECK(rt.run([&made]() -> plait::task<void> {
    ++made;
    co_return;
  }) == (rt.rank() == 0));
  CHECK(made == (rt.rank() == 0 ? 2 : 0));
}

RANKS_CASE("run_all gives each rank the result of its own task") {
  CHECK(rt.run_all(number(rt.rank() * 10)) == rt.rank() * 10);
  CHECK(*rt.run_all(boxed(rt.rank())) == rt.rank());
  static_assert(std::is_void_v<decltype(rt.run_all(nothing()))>);
  rt.run_all(nothing());
}

RANKS_CASE("what root tasks submit in run_all is done when it returns") {
  rt.run_all([]() -> plait::task<void> {
    for (int i = 0; i < 50; ++i) detach(plait::submit<count>());
    for (int i = 0; i < 50; ++i) detach(plait::submit<count>(plait::cyclic));
    co_return;
  }());
  CHECK(calls_on_all_ranks(rt) == 100L * rt.size());
}

RANKS_CASE("runs follow each other hundreds of times") {
  for (int i = 0; i < 200; ++i) {
    if (i % 3 == 0) {
      CHECK(rt.run(number(i)).value_or(i) == i);
    } else if (i % 3 == 1) {
      rt.run([]() -> plait::task<void> {
        detach(plait::submit<count>(plait::on_rank(plait::size() - 1)));
        co_return;
      }());
    } else {
      CHECK(rt.run_all(number(i + rt.rank())) == i + rt.rank());
    }
  }
  CHECK(calls_on_all_ranks(rt) == 67);
}

RANKS_CASE("an exception of run's task is the original on rank 0 and a remote_error elsewhere") {
  for (int i = 0; i < 3; ++i) {
    try {
      rt.run(fail_with_own(i));
      FAIL_CHECK("nothing was thrown");
    } catch (const own_failure& e) {
      CHECK(rt.rank() == 0);
      CHECK(e.detail == i);
    } catch (const plait::remote_error& e) {
      CHECK(rt.rank() != 0);
      CHECK(e.rank() == 0);
      CHECK(e.type_name().find("own_failure") != std::string::npos);
      CHECK(e.text() == "own failure");
      CHECK(!e.host().empty());
      CHECK(std::string(e.what()).find("own failure") != std::string::npos);
    }
    CHECK(rt.run(number(1)).value_or(1) == 1);
  }
}

RANKS_CASE("a standard exception of run's task is a remote_error on the other ranks too") {
  const auto fail = []() -> plait::task<void> {
    throw std::length_error("too long");
    co_return;
  };
  if (rt.rank() == 0) {
    CHECK_THROWS_WITH_AS(rt.run(fail), "too long", std::length_error);
  } else {
    try {
      rt.run(fail);
      FAIL_CHECK("nothing was thrown");
    } catch (const plait::remote_error& e) {
      CHECK(e.rank() == 0);
      CHECK(e.type_name() == "std::length_error");
      CHECK(e.text() == "too long");
    }
  }
}

RANKS_CASE("a callable that throws instead of making a task throws from run on all ranks") {
  const auto make = []() -> plait::task<int> { throw std::domain_error("no task"); };
  static_cast<void>(make);
  const auto refuse = [](int n) {
    if (n > 0) throw std::domain_error("no task");
    return number(n);
  };
  const auto call = [&] { return refuse(1); };
  if (rt.rank() == 0) {
    CHECK_THROWS_WITH_AS(rt.run(call), "no task", std::domain_error);
  } else {
    CHECK_THROWS_AS(rt.run(call), plait::remote_error);
  }
  CHECK(rt.run(number(1)).value_or(1) == 1);
}

RANKS_CASE("a task that can't be started throws from run and run_all on all ranks") {
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(rt.run(plait::task<int>()), plait::error);
    CHECK_THROWS_AS(rt.run(plait::task<void>()), plait::error);
    CHECK_THROWS_AS(rt.run_all(rt.rank() == rt.size() - 1 ? plait::task<int>() : number(i)), plait::error);
    CHECK(rt.run(number(i)).value_or(i) == i);  // and the next run is not disturbed
  }
}

RANKS_CASE("all work has settled when an exception leaves run") {
  CHECK_THROWS(rt.run(throw_beside_tasks(20)));
  CHECK(calls_on_all_ranks(rt) == 20);
}

RANKS_CASE("run_all throws the exception of the lowest rank that threw, everywhere") {
  for (int first = 0; first < rt.size(); ++first) {
    CHECK_THROWS_WITH_AS(rt.run_all(throw_from(first, 10)), ("rank " + std::to_string(first)).c_str(),
                         std::out_of_range);
    CHECK(calls_on_all_ranks(rt) == 10L * rt.size());
  }
  CHECK(rt.run_all(throw_from(rt.size(), 0)) == rt.rank());
}

RANKS_CASE("an exception of a root that carries much text reaches all ranks") {
  const std::string text(100'000, 'x');
  const auto fail = [](std::string what) -> plait::task<void> {
    if (plait::rank() == plait::size() - 1) throw std::runtime_error(what);
    co_return;
  };
  CHECK_THROWS_WITH_AS(rt.run_all(fail(text)), text.c_str(), std::runtime_error);
  rt.run_all(nothing());
}

RANKS_CASE("run returns only after tasks that nobody waits for") {
  rt.run([]() -> plait::task<void> {
    for (int i = 0; i < 5; ++i) detach(plait::submit<detached_chain>(plait::anywhere, 20));
    for (int i = 0; i < 5; ++i) detach(plait::submit<detached_coroutine>(plait::cyclic, 20));
    co_return;
  }());
  CHECK(calls_on_all_ranks(rt) == 5 * 21 + 5 * 21 * 2);
}

RANKS_CASE("run inside a run of the same runtime is an error") {
  const bool refused = rt.run([&rt]() -> plait::task<bool> {
                           try {
                             rt.run(number(1));
                           } catch (const plait::error& e) {
                             co_return std::string(e.what()).find("inside a run") != std::string::npos;
                           }
                           co_return false;
                         }).value_or(true);
  CHECK(refused);
}

RANKS_CASE("what belongs to a run is an error outside of one") {
  CHECK_THROWS_WITH_AS(static_cast<void>(plait::submit<count>()), doctest::Contains("outside of a run"), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::submit<count>(plait::on_rank(0))), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::spmd<count>()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::rank()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::size()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::worker_id()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::num_workers()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::local_worker_id()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::num_local_workers()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(*calls), plait::error);
  // A pool of one's own is no run either.
  plait::pool p({.workers = 1});
  CHECK_THROWS_AS(p.run([]() -> plait::task<void> {
    detach(plait::submit<count>());
    co_return;
  }()),
                  plait::error);
  const auto start = plait::wtime();
  CHECK(plait::wtime() >= start);
}

RANKS_CASE("ranks, and workers numbered by rank, can be asked for inside tasks") {
  struct answer {
    int rank, size, worker, workers, local_worker, local_workers;
  };
  rt.run([]() -> plait::task<void> {
    CHECK(plait::rank() == 0);
    int next = 0;
    for (int r = 0; r < plait::size(); ++r) {
      const auto local = co_await plait::submit(plait::on_rank(r), [] { return plait::num_local_workers(); });
      for (int i = 0; i < local; ++i, ++next) {
        const auto a = co_await plait::submit(plait::on_worker(next), [] {
          return answer{plait::rank(),
                        plait::size(),
                        plait::worker_id(),
                        plait::num_workers(),
                        plait::local_worker_id(),
                        plait::num_local_workers()};
        });
        CHECK(a.rank == r);
        CHECK(a.size == plait::size());
        CHECK(a.worker == next);
        CHECK(a.workers == plait::num_workers());
        CHECK(a.local_worker == i);
        CHECK(a.local_workers == local);
      }
    }
    CHECK(next == plait::num_workers());
  });
}

RANKS_CASE("local worker 0 is the thread that calls run") {
  const auto caller = std::this_thread::get_id();
  rt.run_all([](std::thread::id expected) -> plait::task<void> {
    CHECK(plait::local_worker_id() == 0);
    CHECK(std::this_thread::get_id() == expected);
    co_return;
  }(caller));
}

RANKS_CASE("statistics count each submitted task once") {
  const long before = sum_over_ranks(rt, executed_here(rt));
  rt.run([]() -> plait::task<void> {
    for (int i = 0; i < 300; ++i) detach(plait::submit<count>(i % 2 == 0 ? plait::cyclic : plait::anywhere));
    co_return;
  });
  CHECK(sum_over_ranks(rt, executed_here(rt)) - before == 300);
  CHECK(calls_on_all_ranks(rt) == 300);
}

TEST_CASE("ranks may have different numbers of workers") {
  plait_test::on_loopback_transports(3, [](plait::net::transport& end) {
    plait::runtime rt(end, {.workers = end.rank() + 1});
    rt.run([]() -> plait::task<void> {
      CHECK(plait::num_workers() == 6);
      const int ranks[] = {0, 1, 1, 2, 2, 2};
      for (int w = 0; w < 6; ++w) {
        CHECK(co_await plait::submit(plait::on_worker(w), [] { return plait::rank(); }) == ranks[w]);
        CHECK(co_await plait::submit(plait::on_worker(w), [] { return plait::worker_id(); }) == w);
      }
    });
  });
}

TEST_CASE("runtimes follow each other on the same transports") {
  plait_test::on_loopback_transports(3, [](plait::net::transport& end) {
    for (int i = 0; i < 20; ++i) {
      plait::runtime rt(end, {.workers = 1 + i % 2});
      CHECK(rt.run(number(i)).value_or(i) == i);
      if (i % 4 == 0) continue;
      rt.run([]() -> plait::task<void> {
        for (int k = 0; k < 10; ++k) detach(plait::submit<count>(plait::cyclic));
        co_return;
      });
      CHECK(calls_on_all_ranks(rt) == 10);
    }
  });
}

TEST_CASE("a runtime without any run ends") {
  for (const int ranks : {1, 2, 4}) plait_test::on_loopback(ranks, {.workers = 2}, [](plait::runtime&) {});
}

TEST_CASE("a runtime that ends by an exception of run does so on all ranks") {
  std::atomic<int> thrown{0};
  plait_test::on_loopback_transports(3, [&](plait::net::transport& end) {
    try {
      plait::runtime rt(end, {.workers = 1});
      rt.run(fail_with_own(1));
    } catch (const std::exception&) {
      ++thrown;
      if (end.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  CHECK(thrown == 3);
}

}  // namespace run_cases
