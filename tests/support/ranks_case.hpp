// SPDX-License-Identifier: BSL-1.0
#pragma once

// Cases that are written once, for whatever joins the ranks. RANKS_CASE("a sentence") { ... uses the runtime `rt` ... }
// Every rank executes the body: on the loopback in several worlds, under mpirun once for each number of workers.
// A body uses CHECK, never REQUIRE: a rank that leaves early would keep the others waiting.

#include <doctest/doctest.h>

#include <plait/dist/runtime.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loopback_ranks.hpp"

namespace plait_test {

using ranks_body = void (*)(plait::runtime&);

#if PLAIT_WITH_MPI
/// Runtimes over MPI_COMM_WORLD that the cases of a program share, by the number of workers: making one for each case
/// would take most of the time. They end with the run of the tests, before MPI does.
inline std::map<int, std::unique_ptr<plait::runtime>>& shared_runtimes() {
  static std::map<int, std::unique_ptr<plait::runtime>> all;
  return all;
}

struct runtimes_end : doctest::IReporter {
  explicit runtimes_end(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override { shared_runtimes().clear(); }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("end of the shared runtimes", 2, runtimes_end);
#endif

/// Whether the ranks of this program are joined by MPI.
inline bool under_mpi() {
#if PLAIT_WITH_MPI
  return plait::net::mpi_is_alive();
#else
  return false;
#endif
}

inline void on_all_worlds(ranks_body body) {
#if PLAIT_WITH_MPI
  if (under_mpi()) {
    for (const int workers : {1, 2}) {
      auto& rt = shared_runtimes()[workers];
      if (!rt) rt = std::make_unique<plait::runtime>(MPI_COMM_WORLD, plait::options{.workers = workers});
      body(*rt);
    }
    return;
  }
#endif
  constexpr std::pair<int, int> worlds[] = {{1, 1}, {1, 3}, {2, 1}, {2, 2}, {3, 1}, {4, 2}};
  for (const auto& [ranks, workers] : worlds) {
    const waiting_for named(std::to_string(ranks) + " ranks with " + std::to_string(workers) + " workers each");
    on_loopback(ranks, {.workers = workers}, body);
  }
}

/// Says that a task is to be detached.
template <class T>
void detach(plait::future<T>) {}

/// Collective, between runs: the sum of the ranks' values.
inline long sum_over_ranks(const plait::runtime& rt, long mine) {
  long sum = 0;
  for (const auto value : rt.node().transport().gather_all(mine)) sum += static_cast<long>(value);
  return sum;
}

/// What reached the handler of unobserved exceptions of this process since it was made, as "task: what". Ranks on the
/// loopback share a handler, so every rank's is kept in one list.
class unobserved_log {
 public:
  unobserved_log() {
    before_ = plait::set_unobserved_exception_handler([this](std::exception_ptr e, std::string_view task) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(std::string(task) + ": " + plait::detail::describe(e));
    });
  }
  ~unobserved_log() { plait::set_unobserved_exception_handler(std::move(before_)); }
  unobserved_log(const unobserved_log&) = delete;
  unobserved_log& operator=(const unobserved_log&) = delete;

  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  plait::unobserved_exception_handler before_;
};

}  // namespace plait_test

#define RANKS_CASE_NAMED(function, name)                    \
  static void function(plait::runtime& rt);                 \
  TEST_CASE(name) { plait_test::on_all_worlds(&function); } \
  static void function([[maybe_unused]] plait::runtime& rt)
#define RANKS_CASE(name) RANKS_CASE_NAMED(DOCTEST_ANONYMOUS(ranks_case_), name)
