// SPDX-License-Identifier: BSL-1.0
#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "waiting.hpp"

using namespace std::chrono_literals;
using plait::future;
using plait::pool;
using plait::promise;
using plait::spawn;
using plait::task;

namespace promise_cases {

template <class T>
task<T> await(future<T> f) {
  co_return co_await f;
}

/// Keeps what goes to the unobserved handler.
struct reports {
  reports() {
    before = plait::set_unobserved_exception_handler([this](const std::exception_ptr& e, std::string_view name) {
      const std::lock_guard lock(mutex);
      texts.push_back(std::string(name) + "|" + plait::detail::describe(e));
    });
  }
  ~reports() { plait::set_unobserved_exception_handler(before); }
  std::mutex mutex;
  std::vector<std::string> texts;
  plait::unobserved_exception_handler before;
};

struct stubborn {
  explicit stubborn(int x) : n(x) {}
  stubborn(stubborn&& other) : n(other.n) {
    if (n < 0) throw std::domain_error("does not move");
  }
  int n;
};

TEST_CASE("a promise hands values, references and nothing to its future") {
  promise<int> a;
  CHECK(a.valid());
  auto fa = a.get_future();
  CHECK_FALSE(fa.done());
  CHECK_FALSE(fa.running());
  a.set_value(3);
  CHECK(fa.done());
  CHECK(fa.result() == 3);
  CHECK(fa.get() == 3);
  promise<std::unique_ptr<int>> b;
  auto fb = b.get_future();
  b.set_value(std::make_unique<int>(4));
  CHECK(*fb.get() == 4);
  int x = 5;
  promise<int&> c;
  auto fc = c.get_future();
  c.set_value(x);
  CHECK(&fc.get() == &x);
  promise<> d;
  auto fd = d.get_future();
  d.set_value();
  fd.get();
  promise<std::string> e;
  auto fe = e.get_future();
  e.set_value("converted");
  CHECK(fe.get() == "converted");
  promise<const int&> f;
  auto ff = f.get_future();
  f.set_value(x);
  CHECK(&ff.get() == &x);
  promise<std::vector<int>> g;
  auto fg = g.get_future();
  g.set_value({1, 2});
  CHECK(fg.get().size() == 2);
}

TEST_CASE("a promise may be set before its future is taken, or never be asked for one") {
  promise<int> a;
  a.set_value(1);
  CHECK(a.get_future().get() == 1);
  promise<int> b;
  b.set_value(2);
  promise<int> c;
}

TEST_CASE("a promise hands over exceptions") {
  promise<int> p;
  auto f = p.get_future();
  p.set_exception(std::make_exception_ptr(std::domain_error("not a number")));
  CHECK_THROWS_WITH_AS(f.get(), "not a number", std::domain_error);
  promise<int> q;
  CHECK_THROWS_AS(q.set_exception(nullptr), plait::error);
  q.set_value(1);  // still unset before
}

TEST_CASE("a second set, a second future and a promise that was moved from are errors") {
  promise<int> p;
  auto f = p.get_future();
  CHECK_THROWS_AS(static_cast<void>(p.get_future()), plait::error);
  p.set_value(1);
  CHECK_THROWS_AS(p.set_value(2), plait::error);
  CHECK_THROWS_AS(p.set_exception(std::make_exception_ptr(1)), plait::error);
  promise<int> moved = std::move(p);
  CHECK_FALSE(p.valid());
  CHECK_THROWS_AS(p.set_value(2), plait::error);
  CHECK_THROWS_AS(static_cast<void>(p.get_future()), plait::error);
  CHECK_THROWS_AS(p.set_exception(std::make_exception_ptr(1)), plait::error);
  CHECK_THROWS_AS(moved.set_value(2), plait::error);
  CHECK(f.get() == 1);
}

TEST_CASE("a promise that is destroyed or assigned over unset leaves an error in its future") {
  future<int> f;
  {
    promise<int> p;
    f = p.get_future();
  }
  CHECK(f.done());
  CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("broken promise"), plait::error);
  promise<> p;
  auto g = p.get_future();
  p = promise<>();
  CHECK_THROWS_WITH_AS(g.get(), doctest::Contains("broken promise"), plait::error);
  auto h = p.get_future();
  auto& same = p;
  p = std::move(same);
  CHECK_FALSE(h.done());
  p.set_value();
  h.get();
}

TEST_CASE("tasks that await a promise that breaks get the error") {
  for (const int workers : {1, 2}) {
    pool where({.workers = workers});
    std::optional<promise<int>> p(std::in_place);
    auto f = where.spawn(await(p->get_future()));
    p.reset();
    CHECK_THROWS_WITH_AS(f.get(), doctest::Contains("broken promise"), plait::error);
  }
}

TEST_CASE("only errors that somebody could have seen are reported") {
  reports r;
  { promise<int> never_asked; }
  {
    promise<int> p;
    static_cast<void>(p.get_future());  // dropped
  }
  CHECK(r.texts.empty());
  {
    promise<int> p;
    auto f = p.get_future();
    p.set_exception(std::make_exception_ptr(std::domain_error("lost")));
  }
  REQUIRE(r.texts.size() == 1);
  CHECK(r.texts[0] == "a promise|std::domain_error: lost");
  {
    future<int> f;
    promise<int> p;
    f = p.get_future();
  }
  REQUIRE(r.texts.size() == 2);
  CHECK(r.texts[1].find("broken promise") != std::string::npos);
}

TEST_CASE("a value that can't be moved in leaves the promise unset") {
  promise<stubborn> p;
  auto f = p.get_future();
  CHECK_THROWS_AS(p.set_value(stubborn(-1)), std::domain_error);
  CHECK_FALSE(f.done());
  p.set_value(stubborn(2));
  CHECK(f.get().n == 2);
}

TEST_CASE("callbacks of a promise run in the thread that sets it, before others see that it is done") {
  promise<int> p;
  auto f = p.get_future();
  std::thread::id where;
  bool done_inside = false;
  std::atomic<bool> go_on{false}, inside{false};
  f.add_done_callback([&](const future<int>& done) {
    where = std::this_thread::get_id();
    done_inside = done.done() && done.result() == 7;
    inside = true;
    while (!go_on) std::this_thread::yield();
  });
  std::thread setter([&] { p.set_value(7); });
  plait_test::wait_until([&] { return inside.load(); }, "the callback");
  CHECK_FALSE(f.done());
  go_on = true;
  CHECK(f.get() == 7);
  CHECK(done_inside);
  CHECK(where == setter.get_id());
  setter.join();
}

TEST_CASE("callbacks run also where the future was dropped, and where the promise breaks") {
  int calls = 0;
  {
    promise<int> p;
    p.get_future().add_done_callback([&](const future<int>& done) { calls += done.result(); });
    p.set_value(5);
  }
  CHECK(calls == 5);
  reports r;
  {
    promise<int> p;
    p.get_future().add_done_callback([&](const future<int>& done) { calls += done.exception() != nullptr; });
  }
  CHECK(calls == 6);
  {
    promise<int> p;
    p.get_future().add_done_callback([&](const future<int>&) { ++calls; });
  }
  CHECK(calls == 7);
  CHECK(r.texts.empty());  // nobody had a future
}

TEST_CASE("waiting for a promise in its own callback is an error") {
  promise<int> p;
  auto f = p.get_future();
  bool refused = false;
  f.add_done_callback([&](const future<int>& done) {
    try {
      done.wait();
    } catch (const plait::error&) {
      refused = true;
    }
  });
  p.set_value(1);
  CHECK(refused);
}

TEST_CASE("a task that awaits a promise goes on in its own pool, whoever sets it") {
  struct helper {
    static task<bool> in(pool& home, future<int> f, int expected) {
      const int got = co_await f;
      const auto* w = plait::sched::worker::of_this_thread();
      co_return got == expected&& w != nullptr&& & w->home() == &home;
    }
  };
  for (const int workers : {1, 2}) {
    pool home({.workers = workers}), other({.workers = 1});
    for (int i = 0; i < 300; ++i) {
      promise<int> p;
      auto f = home.spawn(helper::in(home, p.get_future(), i));
      if (i % 3 == 0) {
        p.set_value(i);
      } else {
        (i % 3 == 1 ? other : home).spawn([&p, i] { p.set_value(i); }).get();
      }
      REQUIRE(f.get());
    }
  }
}

TEST_CASE("a worker that blocks on a promise runs the task that sets it") {
  for (const int workers : {1, 2}) {
    pool where({.workers = workers});
    CHECK(where
              .spawn([] {
                promise<int> p;
                auto f = p.get_future();
                auto setter = spawn([&p] { p.set_value(9); });
                const int got = f.get();
                setter.get();
                return got;
              })
              .get() == 9);
  }
}

TEST_CASE("waits with a limit, awaits and sets of a promise meet in any order") {
  pool where({.workers = 2});
  for (int i = 0; i < 1000; ++i) {
    promise<int> p;
    auto f = p.get_future();
    std::atomic<int> calls{0};
    auto setter = where.spawn([&p, i] { p.set_value(i); });
    if (i % 2 == 0) f.add_done_callback([&](const future<int>&) { ++calls; });
    if (i % 3 == 0) {
      while (!f.wait_for(10us)) {
      }
    }
    REQUIRE((i % 5 == 0 ? f.get() : where.run(await(std::move(f)))) == i);
    setter.get();
    REQUIRE(calls == (i % 2 == 0));
  }
}

TEST_CASE("who gets the result may end the promise while the setter is still in set_value") {
  pool where({.workers = 1});
  for (int i = 0; i < 1000; ++i) {
    auto p = std::make_unique<promise<int>>();
    auto f = p->get_future();
    auto setter = where.spawn([&p = *p, i] { p.set_value(i); });
    REQUIRE(f.get() == i);
    p.reset();
    setter.get();
  }
}

TEST_CASE("of several threads that set a promise one succeeds") {
  pool where({.workers = 2});
  for (int i = 0; i < 300; ++i) {
    promise<int> p;
    auto f = p.get_future();
    const auto set = [&p](int n) {
      try {
        p.set_value(n);
        return n;
      } catch (const plait::error&) {
        return 0;
      }
    };
    auto a = where.spawn(set, 1), b = where.spawn(set, 2);
    REQUIRE(f.get() == a.get() + b.get());
  }
}

TEST_CASE("a value whose future was dropped ends with the promise") {
  const auto value = std::make_shared<int>(1);
  {
    promise<std::shared_ptr<int>> p;
    { auto f = p.get_future(); }
    p.set_value(value);
    CHECK(value.use_count() == 2);
  }
  CHECK(value.use_count() == 1);
}

TEST_CASE("futures of promises join and complete like others") {
  struct helper {
    static task<int> use(pool& where) {
      std::vector<promise<int>> promises(10);
      std::vector<future<int>> futures;
      for (auto& p : promises) futures.push_back(p.get_future());
      auto all = plait::as_completed(std::move(futures));  // first: those that are done already come in their order
      auto setter = spawn_on(where, [&promises] {
        for (std::size_t i = promises.size(); i-- > 0;) promises[i].set_value(static_cast<int>(i));
      });
      int order = 9, wrong = 0;
      while (auto c = co_await next(all)) wrong += co_await c->future != order--;
      co_await setter;
      promise<> a;
      promise<int> b;
      auto both = spawn([&] {
        a.set_value();
        b.set_value(4);
      });
      const auto joined = co_await plait::when_all(a.get_future(), b.get_future());
      co_await both;
      co_return wrong + std::get<1>(joined);
    }
  };
  for (const int workers : {1, 2}) {
    pool where({.workers = workers});
    CHECK(where.run(helper::use(where)) == 4);
  }
}

TEST_CASE("the future of a promise can be cancelled; a later set_value is refused") {
  plait::promise<int> p;
  auto f = p.get_future();
  CHECK(f.cancel());
  CHECK(f.cancelled());
  CHECK_THROWS_AS(f.get(), plait::cancelled_error);
  CHECK_THROWS_AS(p.set_value(1), plait::error);
}

TEST_CASE(
    "the end of a pool resumes tasks that wait for a promise with cancelled_error; setting it later does no harm") {
  for (const int workers : {1, 2}) {
    plait::promise<int> first;
    plait::promise<void> second;
    std::atomic<int> cancelled{0};
    std::atomic<int> waiting{0};
    {
      plait::pool pool({.workers = workers});
      static_cast<void>(
          pool.spawn([](plait::future<int> f, std::atomic<int>& count, std::atomic<int>& w) -> plait::task<void> {
            w.fetch_add(1);
            try {
              co_await f;
            } catch (const plait::cancelled_error&) {
              count.fetch_add(1);
            }
          }(first.get_future(), cancelled, waiting)));
      static_cast<void>(
          pool.spawn([](plait::future<void> f, std::atomic<int>& count, std::atomic<int>& w) -> plait::task<void> {
            w.fetch_add(1);
            try {
              co_await plait::when_all(f);
            } catch (const plait::cancelled_error&) {
              count.fetch_add(1);
            }
          }(second.get_future(), cancelled, waiting)));
      plait_test::wait_until([&] { return waiting.load() == 2; }, "both tasks to run");
    }
    CHECK(cancelled.load() == 2);
    first.set_value(1);
    second.set_value();
  }
}

TEST_CASE("a promise may be set while the pool of a task that waits for it ends") {
  struct helper {
    static task<> use(future<int> f, std::atomic<int>& ended) {
      try {
        ended += co_await f;
      } catch (const plait::cancelled_error&) {
        ++ended;
      }
    }
  };
  for (int i = 0; i < 300; ++i) {
    promise<int> p;
    std::atomic<int> ended{0};
    std::thread setter;
    {
      pool home({.workers = 1});
      static_cast<void>(home.spawn(helper::use(p.get_future(), ended)));
      setter = std::thread([&p] { p.set_value(1); });
    }
    setter.join();
    REQUIRE(ended == 1);
  }
}

TEST_CASE("a promise that was cancelled by a future which is then dropped is not reported as unobserved") {
  std::atomic<int> reported{0};
  auto before =
      plait::set_unobserved_exception_handler([&](const std::exception_ptr&, std::string_view) { ++reported; });
  {
    plait::promise<int> p;
    CHECK(p.get_future().cancel());
  }
  plait::set_unobserved_exception_handler(before);
  CHECK(reported.load() == 0);
}

}  // namespace promise_cases
