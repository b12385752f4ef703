// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "../support/ranks_case.hpp"

// One function once on every rank.
namespace spmd_cases {

int rank_times(int factor) { return plait::rank() * factor; }
plait::task<std::string> greet(std::string name) {
  co_await plait::yield();
  co_return name + std::to_string(plait::rank());
}
plait::rank_local<std::atomic<int>> visits;
void visit() { ++*visits; }
plait::task<void> visit_later() {
  co_await plait::yield();
  ++*visits;
}

/// What each rank has run, in order.
plait::rank_local<std::vector<int>> order;
void note(int number) { order->push_back(number); }
plait::task<void> note_later(int number) {
  order->push_back(number);
  co_await plait::yield();
  order->push_back(number);
}

void fail_from(int first) {
  if (plait::rank() >= first) throw std::out_of_range("rank " + std::to_string(plait::rank()));
}

/// Once it was read from a message, its moves throw after some.
struct wears_out {
  wears_out() = default;
  explicit wears_out(int moves) : left(moves) {}
  wears_out(wears_out&& other) : left(other.left), received(other.received) {
    if (received && --left < 0) throw std::domain_error("moved too often");
  }
  template <class Archive>
  void save(Archive& archive) const {
    archive(left);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(left);
    received = true;
  }
  int left = 0;
  bool received = false;
};
wears_out wear_out_after(int moves) { return wears_out(moves); }
struct custom {
  int rank;
};
plait::task<void> fail_custom_on(int r) {
  co_await plait::yield();
  if (plait::rank() == r) throw custom{r};
}

/// What spmd throws here.
std::string call_inside() {
  try {
    plait_test::detach(plait::spmd<visit>());
  } catch (const plait::error& e) {
    return e.what();
  }
  return "";
}
std::string call_below() {
  try {
    return plait::submit<call_inside>(plait::on_rank((plait::rank() + 1) % plait::size())).get();
  } catch (const std::exception& e) {
    return std::string("it threw: ") + e.what();
  }
}
plait::task<std::string> call_below_later() {
  co_return co_await plait::submit<call_inside>(plait::on_rank((plait::rank() + 1) % plait::size()));
}

plait::task<int> gather_from_all() {
  int sum = 0;
  for (int r = 0; r < plait::size(); ++r) sum += co_await plait::submit<rank_times>(plait::on_rank(r), 1);
  co_return sum;
}

RANKS_CASE("spmd runs once on every rank and gives all results by rank") {
  rt.run([]() -> plait::task<void> {
    const auto numbers = co_await plait::spmd<rank_times>(10);
    CHECK(numbers.size() == static_cast<std::size_t>(plait::size()));
    for (int r = 0; r < plait::size(); ++r) CHECK(numbers[static_cast<std::size_t>(r)] == 10 * r);
    const auto texts = co_await plait::spmd<greet>("rank ");
    CHECK(texts.size() == static_cast<std::size_t>(plait::size()));
    for (int r = 0; r < plait::size(); ++r) CHECK(texts[static_cast<std::size_t>(r)] == "rank " + std::to_string(r));
    const auto by_lambda = co_await plait::spmd([](int n) { return n + plait::rank(); }, 5);
    CHECK(by_lambda.back() == 4 + plait::size());
    const std::vector<std::monostate> nothing = co_await plait::spmd<visit>();
    CHECK(nothing.size() == static_cast<std::size_t>(plait::size()));
    co_await plait::spmd<visit_later>();
  });
  CHECK(visits.get(rt).exchange(0) == 2);
}

RANKS_CASE("spmd calls run one after another, in one order on all ranks, whoever makes them") {
  rt.run_all([]() -> plait::task<void> {
    std::vector<plait::future<std::vector<std::monostate>>> calls;
    for (int i = 0; i < 10; ++i) calls.push_back(plait::spmd<note>(plait::rank() * 100 + i));
    for (auto& c : calls) co_await c;
    co_await plait::spmd<note_later>(plait::rank() + 1000);
  }());
  auto& mine = order.get(rt);
  CHECK(mine.size() == 12 * static_cast<std::size_t>(rt.size()));
  std::vector<std::byte> bytes(mine.size() * sizeof(int));
  if (rt.rank() == 0) std::memcpy(bytes.data(), mine.data(), bytes.size());
  rt.node().transport().broadcast(bytes, 0);
  CHECK(bytes.size() == mine.size() * sizeof(int));
  CHECK(std::memcmp(bytes.data(), mine.data(), bytes.size()) == 0);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] < 1000) continue;
    CHECK(mine[i] == mine[i + 1]);  // a body that suspends is still alone
    ++i;
  }
  mine.clear();
}

RANKS_CASE("the exception of the lowest rank whose body threw leaves spmd") {
  rt.run([]() -> plait::task<void> {
    for (int first = 0; first < plait::size(); ++first) {
      CHECK_THROWS_WITH_AS(co_await plait::spmd<fail_from>(first), ("rank " + std::to_string(first)).c_str(),
                           std::out_of_range);
    }
    CHECK((co_await plait::spmd<fail_from>(plait::size())).size() == static_cast<std::size_t>(plait::size()));
  });
}

RANKS_CASE(
    "the exception of a body keeps its type on the rank that has called spmd; from others it names the function") {
  rt.run([]() -> plait::task<void> {
    const auto call = [](int thrower) -> plait::task<std::string> {
      try {
        co_await plait::spmd<fail_custom_on>(thrower);
      } catch (const custom& e) {
        co_return "itself, of rank " + std::to_string(e.rank);
      } catch (const plait::remote_error& e) {
        CHECK(e.type_name() == "spmd_cases::custom");
        co_return e.task_name();
      }
      co_return "nothing was thrown";
    };
    CHECK(co_await call(0) == "itself, of rank 0");
    for (int r = 1; r < plait::size(); ++r) CHECK(co_await call(r) == "spmd_cases::fail_custom_on");
  });
}

RANKS_CASE("an exception of another rank that can't travel names the lambda that spmd has called") {
  if (rt.size() == 1) return;
  rt.run([]() -> plait::task<void> {
    auto call = plait::spmd([] {
      if (plait::rank() > 0) throw 42;
    });
    try {
      co_await call;
      FAIL_CHECK("nothing was thrown");
    } catch (const plait::remote_error& e) {
      CHECK(e.type_name() == "int");
      CHECK(e.task_name().find("callable") == std::string::npos);
    }
  });
}

RANKS_CASE("a result that can't be moved any more is the exception of the spmd call, not the end of the program") {
  rt.run([]() -> plait::task<void> {
    int failures = 0;
    bool ends = false;  // a value that may be moved often enough arrives
    for (int moves = 0; moves < 30 && !ends; ++moves) {
      auto call = plait::spmd<wear_out_after>(moves);
      try {
        const auto all = co_await call;
        ends = all.size() == static_cast<std::size_t>(plait::size());
      } catch (const std::domain_error&) {
        ++failures;
      }
    }
    CHECK(failures > 0);
    CHECK(ends);
  });
}

RANKS_CASE("spmd inside a body, or in a task that descends from one, is an error") {
  rt.run([]() -> plait::task<void> {
    for (const auto& text : co_await plait::spmd<call_inside>()) CHECK(text.find("spmd") != std::string::npos);
    for (const auto& text : co_await plait::spmd<call_below_later>()) CHECK(text.find("spmd") != std::string::npos);
    co_await plait::spmd<visit>();
  });
  CHECK(visits.get(rt).exchange(0) == 1);
}

RANKS_CASE("a body waits for tasks that it submits to any rank") {
  rt.run([]() -> plait::task<void> {
    for (const int sum : co_await plait::spmd<gather_from_all>()) CHECK(sum == plait::size() * (plait::size() - 1) / 2);
    if (plait_test::under_mpi()) co_return;  // below MULTIPLE a blocking body would keep messages out
    for (const auto& text : co_await plait::spmd<call_below>()) CHECK(text.find("spmd") != std::string::npos);
  });
}

RANKS_CASE("a callback on an spmd call may submit") {
  rt.run([]() -> plait::task<void> {
    plait::spmd<rank_times>(1).add_done_callback([](const plait::future<std::vector<int>>& done) {
      for (const int r : done.result()) plait_test::detach(plait::submit<visit>(plait::on_rank(r)));
    });
    co_return;
  });
  CHECK(visits.get(rt).exchange(0) == 1);
}

RANKS_CASE("spmd calls that nobody waits for are over when run returns") {
  rt.run([]() -> plait::task<void> {
    for (int i = 0; i < 20; ++i) plait_test::detach(plait::spmd<visit_later>());
    co_return;
  });
  CHECK(visits.get(rt).exchange(0) == 20);
}

#if PLAIT_WITH_MPI

int broadcast_number(int number) {
  int n = plait::rank() == 0 ? number : -1;
  MPI_Bcast(&n, 1, MPI_INT, 0, plait::mpi::comm());
  return n;
}
std::pair<int, int> place_in_comm() {
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(plait::mpi::comm(), &rank);
  MPI_Comm_size(plait::mpi::comm(), &size);
  return {rank, size};
}
plait::task<long> sum_later(long n) {
  co_await plait::yield();
  long sum = 0;
  MPI_Allreduce(&n, &sum, 1, MPI_LONG, MPI_SUM, plait::mpi::comm());
  co_return sum;
}
bool comm_is_refused() {
  try {
    static_cast<void>(plait::mpi::comm());
  } catch (const plait::error&) {
    return true;
  }
  return false;
}

RANKS_CASE("bodies use native MPI on a communicator of their own") {
  if (!plait_test::under_mpi()) return;
  for (int round = 0; round < 2; ++round) {
    rt.run([]() -> plait::task<void> {
      for (int i = 0; i < 10; ++i) {
        for (const int n : co_await plait::spmd<broadcast_number>(i + 100)) CHECK(n == i + 100);
      }
      const auto places = co_await plait::spmd<place_in_comm>();
      for (int r = 0; r < plait::size(); ++r) CHECK(places[static_cast<std::size_t>(r)] == std::pair(r, plait::size()));
      for (const long sum : co_await plait::spmd<sum_later>(3)) CHECK(sum == 3L * plait::size());
    });
  }
}

plait::task<void> broadcast_from_nowhere(int r) {
  int n = 0;
  if (plait::rank() == r) co_await plait::mpi::bcast(&n, 1, MPI_INT, plait::size(), plait::mpi::comm());
}

RANKS_CASE("an mpi_error arrives as such") {
  if (!plait_test::under_mpi()) return;
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      try {
        co_await plait::spmd<broadcast_from_nowhere>(r);
        FAIL_CHECK("nothing was thrown");
      } catch (const plait::mpi_error& e) {
        CHECK(e.error_class() == MPI_ERR_ROOT);
        CHECK(e.call() == "MPI_Ibcast");
        CHECK(!e.text().empty());
        CHECK(std::string(e.what()).find(e.text()) != std::string::npos);
      }
    }
  });
}

RANKS_CASE("native collectives between runs, and between tasks of other runs, do no harm") {
  if (!plait_test::under_mpi()) return;
  for (int round = 0; round < 20; ++round) {
    rt.run([]() -> plait::task<void> {
      for (int i = 0; i < 10; ++i) plait_test::detach(plait::submit<visit>(plait::cyclic));
      co_return;
    });
    const int mine = visits.get(rt).exchange(0);
    int sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 10);
  }
}

RANKS_CASE("the communicator of bodies is refused elsewhere") {
  rt.run([]() -> plait::task<void> {
    CHECK(comm_is_refused());
    for (int r = 0; r < plait::size(); ++r) CHECK(co_await plait::submit<comm_is_refused>(plait::on_rank(r)));
    for (const bool refused : co_await plait::spmd<comm_is_refused>()) CHECK(refused != plait_test::under_mpi());
  });
  CHECK(comm_is_refused());
}

#endif  // PLAIT_WITH_MPI

}  // namespace spmd_cases
