// SPDX-License-Identifier: BSL-1.0
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>
#include <plait/sched/parking.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string_view>

#include "expecting.hpp"

using plait::sched::deque;
using plait::sched::job;
using plait::sched::jobs;
using plait::sched::parking_lot;
using role = parking_lot::role;

namespace {

/// One thread pushes what its script says, p a fresh job and c a continuation, and tells the parking lot; workers take
/// jobs and sleep in between, by the rules of the pool. A helper takes fresh jobs only.
template <std::size_t Workers>
struct pushes_and_sleepers {
  static constexpr std::size_t threads = 1 + Workers;
  std::string_view script;
  std::array<role, 2> roles;
  bool looks_again;
  parking_lot lot;
  deque d;
  std::array<job, 4> all{};
  std::array<parking_lot::bed, Workers> beds;
  std::size_t taken = 0;

  pushes_and_sleepers(std::string_view of_the_pusher, role first, role second, bool looks_again_when_lying)
      : script(of_the_pusher), roles{first, second}, looks_again(looks_again_when_lying) {}

  void run(std::size_t thread) {
    if (thread == 0) {
      std::size_t next = 0;
      for (const char c : script) {
        if (c == 'c') {
          d.push_continuation(&all[next++]);
          lot.notify_free();
        } else {
          d.push(&all[next++]);
          lot.notify();
        }
      }
    } else {
      work(beds[thread - 1], roles[thread - 1]);
    }
  }

  void work(parking_lot::bed& bed, role r) {
    const auto wanted = r == role::free ? jobs::all : jobs::fresh;
    while (!over()) {
      if (d.steal(wanted) != nullptr) {
        take();
        continue;
      }
      lot.begin_search(r);
      search(bed, r, wanted);
    }
  }
  void search(parking_lot::bed& bed, role r, jobs wanted) {
    while (!over()) {
      if (d.steal(wanted) != nullptr) {
        if (lot.end_search(r)) {
          lot.notify_free();
          lot.notify();
        }
        return take();
      }
      lot.lie_down(bed, r, true);
      if (!over() && !(looks_again && d.offers(wanted))) lot.sleep(bed, std::chrono::steady_clock::time_point::max());
      lot.rise(bed);
    }
    lot.end_search(r);
  }
  void take() {
    if (++taken == script.size()) lot.wake_all();
  }
  bool over() const { return taken == script.size(); }

  void end() {
    interleaving::require(taken == script.size(), "a job was left");
    interleaving::require(lot.sleepers() == 0, "somebody still counts as asleep");
  }
};

template <std::size_t Workers>
interleaving::result search(std::string_view script, role first, role second, interleaving::limits how,
                            bool looks_again = true) {
  return interleaving::checker::instance().search<pushes_and_sleepers<Workers>>(how, script, first, second,
                                                                                looks_again);
}

}  // namespace

TEST_CASE("a push beside a worker that goes to sleep loses no wake-up, in all orders") {
  for (const bool barrier : {true, false}) {
    expect_none_in_all(search<1>("p", role::free, role::free,
                                 {.preemptions = 3, .stale = 2, .executions = 300000, .heavy_barrier = barrier}));
    expect_none_in_all(search<1>("cp", role::free, role::free,
                                 {.preemptions = 2, .stale = 1, .executions = 300000, .heavy_barrier = barrier}));
  }
}

TEST_CASE("a push beside two workers that go to sleep loses no wake-up, in random orders") {
  for (const bool barrier : {true, false}) {
    for (const role second : {role::free, role::helper}) {
      expect_none(search<2>("cpc", role::free, second,
                            {.preemptions = 30, .stale = 4, .executions = 3000, .seed = 5, .heavy_barrier = barrier}));
    }
  }
}

TEST_CASE("faults in parking are found") {
  using interleaving::mutation;
  using interleaving::operation;
  const auto found = [](mutation fault, bool barrier) {
    return search<1>("p", role::free, role::free,
                     {.preemptions = 3, .stale = 2, .heavy_barrier = barrier, .fault = fault});
  };
  SUBCASE("a worker that sleeps without looking again") {
    const auto r = search<1>("p", role::free, role::free, {}, false);
    CHECK(r.fault != "");
    MESSAGE("after ", r.executions, " orders: ", r.fault);
  }
  SUBCASE("no barrier before the last look") {
    expect_fault(found({"see_pushes", operation::barrier, mutation::kind::leave_out}, true));
  }
  SUBCASE("without the system's barrier: a push that does not order itself before its look") {
    expect_fault(found({"wake_one", operation::add, mutation::kind::weaken}, false));
  }
  SUBCASE("a worker that does not count itself before the last look") {
    expect_fault(found({"lie_down", operation::add, mutation::kind::leave_out}, true));
  }
  SUBCASE("counts that are changed in two steps") {
    expect_fault(search<2>("cp", role::free, role::free,
                           {.preemptions = 30,
                            .stale = 4,
                            .executions = 3000,
                            .seed = 5,
                            .fault = {"search", operation::add, mutation::kind::no_exchange}}));
  }
  SUBCASE("a signal that is not set") {
    expect_fault(found({"set", operation::store, mutation::kind::leave_out}, true));
  }
}
