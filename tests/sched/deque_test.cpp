// SPDX-License-Identifier: BSL-1.0
#include <plait/sched/deque.hpp>
#include <plait/sched/job.hpp>
#include <plait/sched/job_queue.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using plait::sched::deque;
using plait::sched::job;
using plait::sched::job_queue;
using plait::sched::jobs;

namespace {
std::vector<job> make_jobs(std::size_t n) { return std::vector<job>(n, job{nullptr, nullptr, nullptr}); }
}  // namespace

TEST_CASE("the owner pops the newest, a thief steals the oldest") {
  auto j = make_jobs(4);
  deque d;
  CHECK(d.pop() == nullptr);
  CHECK(d.steal() == nullptr);
  for (auto& x : j) d.push(&x);
  CHECK(d.size() == 4);
  CHECK(d.pop() == &j[3]);
  CHECK(d.steal() == &j[0]);
  CHECK(d.steal() == &j[1]);
  CHECK(d.pop() == &j[2]);
  CHECK(d.pop() == nullptr);
  CHECK(d.steal() == nullptr);
  CHECK_FALSE(d.offers());
}

TEST_CASE("a deque grows beyond its first ring and keeps the order") {
  constexpr std::size_t n = 10000;
  auto j = make_jobs(n);
  deque d(4);
  for (std::size_t i = 0; i < n; ++i) {
    d.push(&j[i]);
    if (i % 3 == 0) {
      CHECK(d.steal() == &j[i / 3]);
    }
  }
  const std::size_t stolen = (n + 2) / 3;
  for (std::size_t i = n; i-- > stolen;) REQUIRE(d.pop() == &j[i]);
  CHECK(d.pop() == nullptr);
  d.push(&j[0]);
  CHECK(d.pop() == &j[0]);
}

TEST_CASE("pop_if takes the newest only if it is this very continuation") {
  auto j = make_jobs(3);
  deque d;
  CHECK_FALSE(d.pop_if(&j[0]));
  d.push_continuation(&j[0]);
  d.push_continuation(&j[1]);
  CHECK_FALSE(d.pop_if(&j[0]));
  CHECK(d.pop_if(&j[1]));
  CHECK_FALSE(d.pop_if(&j[1]));
  CHECK(d.steal() == &j[0]);
  CHECK_FALSE(d.pop_if(&j[0]));
  CHECK(d.size() == 0);
  d.push(&j[2]);
  CHECK_FALSE(d.pop_if(&j[2]));  // it is no continuation
  CHECK(d.pop() == &j[2]);
}

TEST_CASE("a thief that wants fresh jobs leaves a continuation where it is") {
  auto j = make_jobs(3);
  deque d;
  d.push(&j[0]);
  d.push_continuation(&j[1]);
  d.push(&j[2]);
  CHECK(d.offers(jobs::fresh));
  CHECK_FALSE(d.newest_is_continuation());
  CHECK(d.steal(jobs::fresh) == &j[0]);
  CHECK_FALSE(d.offers(jobs::fresh));
  CHECK(d.offers());
  CHECK(d.steal(jobs::fresh) == nullptr);
  CHECK(d.pop() == &j[2]);
  CHECK(d.newest_is_continuation());
  CHECK(d.steal() == &j[1]);
}

TEST_CASE("marks tell which jobs were pushed later") {
  auto j = make_jobs(2);
  deque d;
  const auto before = d.mark();
  d.push(&j[0]);
  d.push(&j[1]);
  CHECK(d.mark() == before + 2);
  d.pop();
  CHECK(d.mark() == before + 1);
}

TEST_CASE("a job queue gives what was pushed, oldest first, and can take it back") {
  auto j = make_jobs(3);
  job_queue q;
  CHECK(q.empty());
  CHECK(q.take_all() == nullptr);
  for (auto& x : j) q.push(&x);
  CHECK_FALSE(q.empty());
  job* first = q.take_all();
  CHECK(q.empty());
  CHECK(first == &j[0]);
  CHECK(first->next_job == &j[1]);
  CHECK(j[1].next_job == &j[2]);
  CHECK(j[2].next_job == nullptr);
  q.push_all(first);
  CHECK(q.take_all() == &j[0]);
}

TEST_CASE("several producers and consumers of a job queue lose and repeat nothing") {
  constexpr std::size_t producers = 2, each = 20000;
  struct counted_job : job {
    std::atomic<int> taken{0};
  };
  std::vector<counted_job> all(producers * each);
  job_queue q;
  std::atomic<std::size_t> left{all.size()};
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      for (std::size_t i = 0; i < each; ++i) q.push(&all[p * each + i]);
    });
  }
  for (int c = 0; c < 2; ++c) {
    threads.emplace_back([&] {
      while (left > 0) {
        std::size_t n = 0;
        for (auto* j = q.take_all(); j != nullptr; ++n) {
          auto* next = j->next_job;
          static_cast<counted_job*>(j)->taken += 1;
          j = next;
        }
        left -= n;
        if (n == 0) std::this_thread::yield();
      }
    });
  }
  for (auto& t : threads) t.join();
  bool once = true;
  for (const auto& j : all) once = once && j.taken == 1;
  CHECK(once);
}
