// SPDX-License-Identifier: BSL-1.0
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string_view>

#include "expecting.hpp"

using plait::sched::deque;
using plait::sched::job;
using plait::sched::jobs;

namespace {

constexpr std::size_t most = 8;

struct counted : job {
  interleaving::plain<int> content;
  int taken = 0;
};

/// The owner follows a script: p and c push a job and a continuation, o pops, i pops if it is the newest it has pushed.
/// Two others steal.
template <std::size_t Thieves>
struct owner_and_thieves {
  static constexpr std::size_t threads = 1 + Thieves;
  std::string_view script;
  int attempts;
  jobs wanted;
  deque d;
  std::array<counted, most> all;
  std::size_t pushed = 0;

  owner_and_thieves(std::string_view script_of_owner, int attempts_each, jobs what, std::size_t capacity)
      : script(script_of_owner), attempts(attempts_each), wanted(what), d(capacity) {}

  void take(job* j) {
    if (j == nullptr) return;
    bool known = false;
    for (counted& one : all) known = known || j == &one;
    interleaving::require(known, "what is taken is no job");
    auto& mine = *static_cast<counted*>(j);
    interleaving::require(++mine.taken == 1, "a job is taken twice");
    interleaving::require(mine.content.read() == 7, "a job is taken before its content is there");
    mine.content.write(8);
  }

  void run(std::size_t thread) {
    if (thread != 0) {
      for (int i = 0; i < attempts; ++i) take(d.steal(wanted));
      return;
    }
    for (const char c : script) {
      if (c == 'p' || c == 'c') {
        all[pushed].content.write(7);
        c == 'p' ? d.push(&all[pushed]) : d.push_continuation(&all[pushed]);
        ++pushed;
      } else if (c == 'o') {
        take(d.pop());
      } else if (d.pop_if(&all[pushed - 1])) {
        take(&all[pushed - 1]);
      }
    }
  }

  void end() {
    while (auto* j = d.pop()) take(j);
    for (std::size_t i = 0; i < pushed; ++i) interleaving::require(all[i].taken == 1, "a job is lost");
    interleaving::require(d.size() == 0, "it is not empty at the end");
  }
};

interleaving::result search(std::string_view script, int attempts, interleaving::limits how, std::size_t capacity = 8,
                            jobs wanted = jobs::all) {
  return interleaving::checker::instance().search<owner_and_thieves<2>>(how, script, attempts, wanted, capacity);
}
interleaving::result search_with_one(std::string_view script, int attempts, interleaving::limits how,
                                     std::size_t capacity = 8, jobs wanted = jobs::all) {
  return interleaving::checker::instance().search<owner_and_thieves<1>>(how, script, attempts, wanted, capacity);
}

}  // namespace

TEST_CASE("the last job of a deque goes to its owner or to one of two thieves, in all orders") {
  expect_none_in_all(search("po", 1, {.preemptions = 3, .stale = 2}));
  expect_none_in_all(search("ppoo", 1, {.preemptions = 2, .stale = 1}));
  expect_none_in_all(search("pocio", 2, {.preemptions = 2, .stale = 1}));
}

TEST_CASE("a deque that grows while thieves read it loses and repeats nothing, in all orders") {
  expect_none_in_all(search_with_one("ppppoooo", 3, {.preemptions = 2, .stale = 2}, 2));
  expect_none_in_all(search("pppo", 2, {.preemptions = 2, .stale = 1}, 2));
}

TEST_CASE("pop_if takes a continuation exactly if no thief has, in all orders") {
  expect_none_in_all(search("cici", 2, {.preemptions = 2, .stale = 1}));
  expect_none_in_all(search("pcico", 2, {.preemptions = 2, .stale = 1}, 8, jobs::fresh));
}

TEST_CASE("a deque in random orders") {
  expect_none(search("ppopocoippoo", 4, {.preemptions = 30, .stale = 8, .executions = 3000, .seed = 11}, 2));
}

TEST_CASE("faults in the deque are found") {
  using interleaving::mutation;
  using interleaving::operation;
  const auto found = [](mutation fault) {
    auto r = search("po", 1, {.preemptions = 3, .stale = 2, .fault = fault});
    if (r.fault.empty()) r = search("ppoo", 2, {.preemptions = 2, .stale = 2, .fault = fault});
    return r;
  };
  SUBCASE("a pop that publishes bottom by a plain store") {
    expect_fault(found({"withdraw", operation::exchange, mutation::kind::no_exchange, std::memory_order_release}));
  }
  SUBCASE("a pop whose exchange is not seq_cst") {
    expect_fault(found({"withdraw", operation::exchange, mutation::kind::weaken, std::memory_order_acq_rel}));
  }
  SUBCASE("a pop that takes the last job without compare-exchange") {
    expect_fault(found({"withdraw", operation::compare_exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("a thief that takes without compare-exchange") {
    expect_fault(found({"steal", operation::compare_exchange, mutation::kind::no_exchange}));
  }
  SUBCASE("a pop that does not put bottom back") {
    expect_fault(found({"withdraw", operation::store, mutation::kind::leave_out}));
  }
  SUBCASE("a push that publishes without release") { expect_fault(found({"put", operation::store})); }
  SUBCASE("a thief that reads bottom without acquire") { expect_fault(found({"steal", operation::load})); }
  SUBCASE("a new ring that is published without release") {
    expect_fault(
        search_with_one("ppppoooo", 3, {.preemptions = 3, .stale = 2, .fault = {"publish", operation::store}}, 2));
  }
}
