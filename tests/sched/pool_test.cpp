// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "waiting.hpp"

using namespace std::chrono_literals;
using plait::future;
using plait::pool;
using plait::task;

namespace {

double processor_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

std::size_t threads_of_the_process() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::uint64_t times_parked(pool& p) {
  std::uint64_t n = 0;
  for (unsigned i = 0; i < p.size(); ++i) n += p.at(i).counters.parked.read();
  return n;
}

task<int> answer() { co_return 42; }

task<long> fib(int n) {
  if (n < 2) co_return n;
  future<long> a = co_await plait::fork(fib(n - 1));
  const long b = co_await fib(n - 2);
  co_return co_await a + b;
}

}  // namespace

TEST_CASE("a pool has as many workers as asked for, with any kind of integer") {
  const int one = 1;
  CHECK(pool({.workers = one}).size() == 1);
  pool three({.workers = 3});
  CHECK(three.size() == 3);
  CHECK(pool().size() == plait::base::usable_processors());
}

TEST_CASE("an impossible number of workers is an error that says what is possible") {
  for (const int n : {-1, 1025, 1 << 30}) {
    try {
      pool p({.workers = n});
      FAIL("no error for ", n);
    } catch (const plait::error& e) {
      const std::string what = e.what();
      CHECK(what.find(std::to_string(n)) != std::string::npos);
      CHECK(what.find("1024") != std::string::npos);
    }
  }
}

TEST_CASE("run gives the result of a task, again and again") {
  pool p({.workers = 2});
  for (int i = 0; i < 200; ++i) REQUIRE(p.run(answer()) == 42);
  CHECK(p.run(fib(15)) == 610);
}

TEST_CASE("a pool that has done nothing ends at once") {
  for (int i = 0; i < 30; ++i) pool p({.workers = 2});
}

TEST_CASE("pools start, work and end many times, several at once") {
  for (int i = 0; i < 20; ++i) {
    pool a({.workers = 1}), b({.workers = 2});
    auto f = b.spawn(fib(10));
    CHECK(a.run(fib(9)) == 34);
    CHECK(f.get() == 55);
  }
}

TEST_CASE("the end of a pool runs all that is queued, detached tasks too") {
  std::atomic<int> ran{0};
  {
    pool p({.workers = 2});
    for (int i = 0; i < 500; ++i) {
      auto dropped = p.spawn([&ran] {
        plait::spawn([&ran] { ++ran; }).valid();
        ++ran;
      });
      static_cast<void>(dropped);
    }
  }
  CHECK(ran == 1000);
}

TEST_CASE("run returns after all that the task has started, detached or not") {
  pool p({.workers = 2});
  std::atomic<int> ran{0};
  struct helper {
    static task<> deep(std::atomic<int>& n, int depth) {
      if (depth > 0) static_cast<void>(plait::spawn(deep(n, depth - 1)));
      co_await plait::yield();
      ++n;
    }
  };
  for (int i = 0; i < 20; ++i) {
    ran = 0;
    p.run(helper::deep(ran, 30));
    REQUIRE(ran == 31);
  }
}

TEST_CASE("many foreign threads spawn into one pool") {
  pool p({.workers = 2});
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<future<int>> futures;
      for (int i = 0; i < 300; ++i) futures.push_back(p.spawn([t, i] { return 1000 * t + i; }));
      for (auto& f : futures) sum += f.get();
    });
  }
  for (auto& t : threads) t.join();
  CHECK(sum == 4L * 44850 + 300L * 6000);
}

TEST_CASE("a task in one pool can use another pool, by co_await and by blocking") {
  pool outer({.workers = 1}), inner({.workers = 1});
  struct helper {
    static task<int> use(pool& other) {
      const pool* const home = &plait::sched::worker::of_this_thread()->home();
      auto f = other.spawn([&other] { return &plait::sched::worker::of_this_thread()->home() == &other ? 1 : 1000; });
      const int awaited = co_await f;
      const int back = &plait::sched::worker::of_this_thread()->home() == home ? 10 : 2000;
      const int ran = other.run(answer());
      const int got = other.spawn(answer()).get();
      co_return awaited + back + ran + got;
    }
  };
  for (int i = 0; i < 50; ++i) REQUIRE(outer.run(helper::use(inner)) == 95);
}

TEST_CASE("a task can make a pool of its own and wait for it") {
  pool p({.workers = 2});
  struct helper {
    static task<long> nested(int depth) {
      if (depth == 0) co_return co_await fib(5);
      pool q({.workers = 1});
      co_return q.run(nested(depth - 1)) + 1;
    }
  };
  CHECK(p.run(helper::nested(4)) == 9);
}

TEST_CASE("a pool works for tasks of many threads that run at once") {
  pool p({.workers = 2});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) wrong += p.run(fib(8)) != 21;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("the workers of a pool are numbered from zero") {
  pool p({.workers = 3});
  std::mutex m;
  std::set<unsigned> seen;
  std::atomic<int> waiting{0};
  std::vector<future<>> futures;
  for (int i = 0; i < 3; ++i) {
    futures.push_back(p.spawn([&] {
      {
        const std::lock_guard lock(m);
        seen.insert(plait::this_worker::id());
      }
      ++waiting;
      while (waiting < 3) std::this_thread::yield();  // each on a worker of its own
    }));
  }
  for (auto& f : futures) f.get();
  CHECK(seen == std::set<unsigned>{0, 1, 2});
  CHECK_THROWS_AS(plait::this_worker::id(), plait::error);
}

TEST_CASE("an idle pool uses no processor time, and wakes up for work") {
  pool p({.workers = 4});
  CHECK(p.run(fib(12)) == 144);
  plait_test::wait_until([&] { return times_parked(p) >= 4 && p.parking().sleepers() == 4; }, "all workers to sleep");
  const double before = processor_seconds();
  std::this_thread::sleep_for(1s);
  const double used = processor_seconds() - before;
  CHECK(used < 0.02);
  CHECK(p.run(fib(12)) == 144);
}

TEST_CASE("a single job wakes one of the workers that sleep, and no other") {
  pool p({.workers = 4});
  const auto all_asleep = [&] { return p.parking().sleepers() == 4; };
  plait_test::wait_until([&] { return times_parked(p) >= 4 && all_asleep(); }, "all workers to sleep");
  for (int i = 0; i < 20; ++i) {
    const auto before = times_parked(p);
    p.spawn([] {}).get();
    plait_test::wait_until([&] { return times_parked(p) > before && all_asleep(); }, "the woken worker to sleep again");
    CHECK(times_parked(p) == before + 1);
  }
}

TEST_CASE("a worker that waits for another pool uses no processor time") {
  pool a({.workers = 1}), b({.workers = 1});
  std::atomic<bool> go{false};
  auto slow = b.spawn([&] {
    while (!go) std::this_thread::sleep_for(5ms);
  });
  auto waits = a.spawn([&] { slow.get(); });
  plait_test::wait_until([&] { return a.parking().sleepers() == 1; }, "the waiting worker to sleep");
  const double before = processor_seconds();
  std::this_thread::sleep_for(500ms);
  CHECK(processor_seconds() - before < 0.05);
  go = true;
  waits.get();
}

TEST_CASE("sleeping workers wake up for a single job, every time") {
  pool p({.workers = 3});
  for (int i = 0; i < 100; ++i) {
    if (i % 4 == 0) {
      plait_test::wait_until([&] { return p.parking().sleepers() == 3; }, "all workers to sleep");
    }
    REQUIRE(p.run(answer()) == 42);
  }
}

TEST_CASE("a job from outside is taken by a sleeping worker while another is busy and has just ended its search") {
  pool p({.workers = 2});
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> ready{false}, done{false}, first{false};
    // One worker waits for a task of a foreign thread's making, then spins for the job.
    auto f = p.spawn([&] { first = true; });
    auto spinner = p.spawn([&] {
      f.wait();
      ready = true;
      while (!done) std::this_thread::yield();
    });
    auto j = p.spawn([&] { done = true; });
    j.get();
    spinner.get();
    REQUIRE(ready);
  }
}

TEST_CASE("sync_wait uses the default pool, which is one for the whole process") {
  CHECK(plait::sync_wait(answer()) == 42);
  CHECK(&pool::default_pool() == &pool::default_pool());
  struct helper {
    static task<bool> in_default() {
      co_return &plait::sched::worker::of_this_thread()->home() == &pool::default_pool();
    }
    static task<bool> in_own(const pool& own) {
      const bool here = plait::sync_wait(in_default());
      co_return !here && &plait::sched::worker::of_this_thread()->home() == &own;
    }
  };
  CHECK(plait::sync_wait(helper::in_default()));
  pool p({.workers = 1});
  CHECK(p.run(helper::in_own(p)));  // on a worker sync_wait stays in its pool
}

TEST_CASE("the end of a pool waits for a run that another thread has begun, and refuses new ones") {
  pool other({.workers = 1});
  std::atomic<bool> began{false};
  std::atomic<bool> ended{false};
  auto p = std::make_unique<pool>(plait::pool_options{.workers = 1});
  struct helper {
    static task<int> work(pool& elsewhere, std::atomic<bool>& start, std::atomic<bool>& end) {
      start = true;
      auto f = elsewhere.spawn([] { std::this_thread::sleep_for(100ms); });
      co_await f;
      end = true;
      co_return 3;
    }
  };
  int result = 0;
  std::thread runs([&, q = p.get()] { result = q->run(helper::work(other, began, ended)); });
  plait_test::wait_until([&] { return began.load(); }, "the start of the run");
  p.reset();
  CHECK(ended);
  runs.join();
  CHECK(result == 3);
}

TEST_CASE("a worker that waits deep in its stack does not keep a wake-up from those that can steal") {
  std::atomic<bool> end{false};
  pool other({.workers = 1});
  pool p({.workers = 3});
  auto blocked = other.spawn([&] { plait_test::wait_until([&] { return end.load(); }, "the end of the case"); });
  auto blocked_too = other.spawn([] {});
  auto deep = p.spawn([&] {
    volatile char* const large = static_cast<char*>(__builtin_alloca(5u << 20));
    large[0] = 1;
    blocked.wait();
  });
  std::this_thread::sleep_for(50ms);  // the order makes it likely that the deep one is asked first; any other must work
  auto shallow = p.spawn([&] { blocked_too.wait(); });
  std::this_thread::sleep_for(50ms);
  auto asks = p.spawn([&] {
    std::atomic<bool> started{false};
    auto f = plait::spawn([&] { started = true; });
    const bool helped = plait_test::wait_until([&] { return started.load(); }, "another worker to take the task");
    f.get();
    return helped;
  });
  CHECK(asks.get());
  end = true;
  deep.get();
  shallow.get();
}

TEST_CASE("a task that gives way is not held up by a worker that waits for something else") {
  struct helper {
    static task<int> yields(int n) {
      for (int i = 0; i < n; ++i) co_await plait::yield();
      co_return n;
    }
  };
  for (int round = 0; round < 5; ++round) {
    pool p({.workers = 3});
    std::atomic<bool> end{false};
    std::atomic<bool> computing{false};
    auto holds = p.spawn([&] {
      auto computes = plait::spawn([&] {
        computing = true;
        plait_test::wait_until([&] { return end.load(); }, "the task that gives way");
      });
      plait_test::wait_until([&] { return computing.load(); }, "the computation to start");
      computes.wait();
    });
    plait_test::wait_until([&] { return computing.load(); }, "the computation to start");
    auto waits = p.spawn([] { return plait::spawn(helper::yields(50000)).get(); });  // by the last free worker
    CHECK(waits.get() == 50000);
    end = true;
    holds.get();
  }
}

TEST_CASE("tasks that block start no threads, however many they are and however deep") {
  pool p({.workers = 2});
  CHECK(p.run(fib(5)) == 5);
  const std::size_t before = threads_of_the_process();
  struct helper {
    static int deep(int depth, std::atomic<std::size_t>& most) {
      const auto now = threads_of_the_process();
      for (auto seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      if (depth == 0) return 0;
      auto left = plait::spawn(deep, depth - 1, std::ref(most));
      return left.get() + 1;
    }
  };
  std::atomic<std::size_t> most{0};
  std::vector<future<int>> futures;
  for (int i = 0; i < 20; ++i) futures.push_back(p.spawn(helper::deep, 20, std::ref(most)));
  for (auto& f : futures) CHECK(f.get() == 20);
  CHECK(most == before);
}

TEST_CASE("a wide and deep tree of forks keeps few frames alive on each worker") {
  struct helper {
    static task<long> tree(int depth, std::atomic<long>& alive, std::atomic<long>& most) {
      const long now = ++alive;
      for (long seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      long sum = 1;
      if (depth > 0) {
        std::vector<future<long>> children;
        for (int i = 0; i < 4; ++i) children.push_back(co_await plait::fork(tree(depth - 1, alive, most)));
        for (auto& c : children) sum += co_await c;
      }
      --alive;
      co_return sum;
    }
  };
  for (const int workers : {1, 4}) {
    pool p({.workers = workers});
    std::atomic<long> alive{0}, most{0};
    CHECK(p.run(helper::tree(8, alive, most)) == 87381);
    CHECK(alive == 0);
    CHECK(most <= 16 * workers);  // a path to a leaf each, and a few that were left by thieves
  }
}

TEST_CASE("the thread that ends a pool and works in it meanwhile is woken by the end of the last task") {
  const plait_test::waiting_for named("the end of a pool whose last task runs in another thread");
  for (int i = 0; i < 5; ++i) {
    std::atomic<bool> started{false}, ended{false};
    {
      pool p(pool::caller_works, {.workers = 2});
      static_cast<void>(p.spawn([&] {
        started = true;
        std::this_thread::sleep_for(10ms);  // the other one has time to fall asleep
        ended = true;
      }));
      plait_test::wait_until([&] { return started.load(); }, "the only thread of the pool begins");
    }
    CHECK(ended);
  }
}

#if !PLAIT_TSAN  // a child process of one with threads
TEST_CASE("a pool that is destroyed in one of its own tasks ends the program with a message") {
  std::string said;
  CHECK(plait_test::fails(
      [] {
        auto* p = new pool({.workers = 1});
        p->run([](pool* mine) -> task<> {
          delete mine;
          co_return;
        }(p));
      },
      said));
  CHECK_MESSAGE(said.find("destroyed in one of its own tasks") != std::string::npos, said);
}
#endif
