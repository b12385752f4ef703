// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/waiting.hpp"

using namespace std::chrono_literals;
using plait::future;
using plait::pool;
using plait::promise;
using plait::shared_future;
using plait::spawn;
using plait::task;
using plait::when_any;

namespace when_any_cases {

/// A task that ends when it is told to, without blocking its worker.
struct gate {
  std::atomic<bool> open{false};
  task<int> wait(int result) {
    while (!open) co_await plait::yield();
    co_return result;
  }
};

task<int> after(int yields, int result) {
  for (int i = 0; i < yields; ++i) co_await plait::yield();
  co_return result;
}

TEST_CASE("when_any gives the future that ended first, and the others go on") {
  struct helper {
    static task<bool> use() {
      gate a, b, c;
      auto f = spawn(a.wait(1)), g = spawn(b.wait(2)), h = spawn(c.wait(3));
      auto opener = spawn([&b] { b.open = true; });
      bool right = co_await when_any(f, g, h) == 1;
      co_await opener;
      right &= g.done() && !f.done() && f.valid() && !h.done();
      right &= co_await g == 2;
      c.open = true;
      right &= co_await when_any(f, h) == 1;
      a.open = true;
      right &= co_await f == 1 && co_await h == 3;
      co_return right;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 50; ++i) REQUIRE(p.run(helper::use()));
  }
}

TEST_CASE("when_any gives the lowest of those that have ended") {
  struct helper {
    static task<bool> use() {
      gate never;
      auto f = spawn(never.wait(1)), g = spawn(after(0, 2)), h = spawn(after(0, 3));
      h.wait();
      g.wait();
      const bool right =
          co_await when_any(f, h, g) == 1 && co_await when_any(h, f, g) == 0 && co_await when_any(g) == 0;
      never.open = true;
      co_return right;
    }
  };
  CHECK(plait::sync_wait(helper::use()));
}

TEST_CASE("when_any takes all kinds of results, shared futures, and promises") {
  struct helper {
    static task<bool> use() {
      int x = 0;
      gate never;
      promise<std::unique_ptr<int>> source;
      auto of_promise = source.get_future();
      auto shared = spawn(never.wait(1)).share();
      auto reference = spawn([&x]() -> int& { return x; });
      auto nothing = spawn([] {});
      nothing.wait();
      bool right = co_await when_any(of_promise, shared, nothing) == 2;
      reference.wait();
      right &= co_await when_any(shared, reference, of_promise, nothing) == 1;
      auto setter = spawn([&source] { source.set_value(std::make_unique<int>(1)); });
      right &= co_await when_any(shared, of_promise) == 1;
      right &= *co_await of_promise == 1;
      never.open = true;
      auto same = shared;
      right &= co_await when_any(same, shared) == 0;
      co_await setter;
      co_return right;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use()));
  }
}

TEST_CASE("when_any does not throw what a task threw") {
  struct helper {
    static task<> fail() {
      co_await plait::yield();
      throw std::domain_error("later");
    }
    static task<bool> use() {
      gate never;
      auto f = spawn(never.wait(1));
      auto g = spawn(fail());
      const bool right = co_await when_any(f, g) == 1;
      never.open = true;
      try {
        co_await g;
      } catch (const std::domain_error&) {
        co_return right;
      }
      co_return false;
    }
  };
  CHECK(plait::sync_wait(helper::use()));
}

TEST_CASE("when_any of ranges, until each was the first once") {
  struct helper {
    static task<int> use() {
      std::vector<future<int>> left;
      for (int i = 0; i < 40; ++i) left.push_back(spawn(after(i * 7 % 11, i)));
      int sum = 0;
      while (!left.empty()) {
        const auto i = co_await when_any(left);
        sum += co_await left[i];
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      }
      future<int> pair[2] = {spawn(after(3, 1)), spawn(after(1, 2))};
      const auto first = co_await when_any(pair);
      sum += co_await pair[first];
      const auto& rest = pair;
      static_cast<void>(rest);
      const std::vector<shared_future<int>> many(5, pair[1 - first].share());
      sum += static_cast<int>(co_await when_any(many)) + many[0].get();
      co_return sum;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 10; ++i) REQUIRE(p.run(helper::use()) == 39 * 40 / 2 + 3);
  }
}

TEST_CASE("when_any of nothing, or of an empty future, is an error") {
  struct helper {
    static task<int> use() {
      int errors = 0;
      std::vector<future<int>> none;
      try {
        co_await when_any(none);
      } catch (const plait::error&) {
        ++errors;
      }
      future<int> empty;
      auto f = spawn(after(1, 1));
      try {
        co_await when_any(f, empty);
      } catch (const plait::error&) {
        ++errors;
      }
      shared_future<int> also_empty;
      try {
        co_await when_any(f, also_empty);
      } catch (const plait::error&) {
        ++errors;
      }
      co_await f;
      co_return errors;
    }
  };
  CHECK(plait::sync_wait(helper::use()) == 3);
}

TEST_CASE("when_any of forks") {
  struct helper {
    static task<int> use(int seed) {
      auto f = co_await plait::fork(after(seed % 7, 0));
      auto g = co_await plait::fork(after(seed % 5, 1));
      const auto first = co_await when_any(f, g);
      auto& winner = first == 0 ? f : g;
      if (!winner.done()) co_return -1;
      if (seed % 3 == 0) co_return 1;  // the rest is joined where it is dropped
      co_return co_await f + co_await g;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 300; ++i) REQUIRE(p.run(helper::use(i)) == 1);
  }
}

TEST_CASE("when_any again and again on a future that does not end leaves nothing behind") {
  struct helper {
    static task<bool> use(int rounds) {
      gate never;
      auto slow = spawn(never.wait(0));
      for (int i = 0; i < rounds; ++i) {
        auto quick = spawn(after(i % 3, i));
        if (co_await when_any(slow, quick) != 1) co_return false;
        if (co_await quick != i) co_return false;
      }
      never.open = true;
      co_return co_await slow == 0;
    }
  };
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    CHECK(p.run(helper::use(2000)));
  }
}

TEST_CASE("promises that are set by threads at once resume a when_any once, in its pool") {
  struct helper {
    static task<int> use(pool& home, shared_future<int> a, shared_future<int> b, std::atomic<int>& resumed) {
      const auto first = co_await when_any(a, b);
      ++resumed;
      const auto* w = plait::sched::worker::of_this_thread();
      if (w == nullptr || &w->home() != &home) co_return -1;
      co_return first == 0 ? a.get() : b.get();
    }
  };
  for (const int workers : {1, 2}) {
    pool home({.workers = workers}), setters({.workers = 2});
    for (int i = 0; i < 1000; ++i) {
      promise<int> p, q;
      auto a = p.get_future().share(), b = q.get_future().share();
      std::atomic<int> resumed{0};
      auto f = home.spawn(helper::use(home, a, b, resumed));
      auto g = home.spawn(helper::use(home, b, a, resumed));
      if (i % 2 == 0) a.add_done_callback([](const future<int>&) {});
      auto s = setters.spawn([&p] { p.set_value(1); });
      auto t = setters.spawn([&q] { q.set_value(2); });
      const int x = f.get(), y = g.get();
      REQUIRE((x == 1 || x == 2));
      REQUIRE((y == 1 || y == 2));
      s.get();
      t.get();
      REQUIRE(resumed == 2);
    }
  }
}

TEST_CASE("a when_any, a callback, a timed wait and an await on one task at once") {
  struct helper {
    static task<std::size_t> any(shared_future<int> a, shared_future<int> b) { co_return co_await when_any(a, b); }
    static task<int> read(shared_future<int> f) { co_return co_await f; }
  };
  pool p({.workers = 2});
  for (int i = 0; i < 300; ++i) {
    gate g, never;
    std::atomic<int> calls{0};
    auto f = p.spawn(g.wait(i)).share();
    auto slow = p.spawn(never.wait(0)).share();
    auto reader = p.spawn(helper::read(f));
    auto any = p.spawn(helper::any(slow, f));
    f.add_done_callback([&calls](const future<int>&) { ++calls; });
    static_cast<void>(f.wait_for(20us));
    g.open = true;
    if (i % 2 == 0) f = {};
    REQUIRE(any.get() == 1);
    REQUIRE(reader.get() == i);
    never.open = true;
    slow.wait();
    REQUIRE(calls == 1);
  }
}

TEST_CASE("the end of a pool resumes a next(as_completed(...)) of promises that nobody sets") {
  struct helper {
    static task<> use(std::vector<future<int>> futures, std::atomic<int>& seen) {
      auto all = plait::as_completed(std::move(futures));
      try {
        while (auto c = co_await next(all)) seen += co_await c->future;
      } catch (const plait::cancelled_error&) {
        seen += 100;
      }
    }
  };
  for (int i = 0; i < 200; ++i) {
    promise<int> p, q;
    std::vector<future<int>> futures;
    futures.push_back(p.get_future());
    futures.push_back(q.get_future());
    std::atomic<int> seen{0};
    std::thread setter;
    {
      pool home({.workers = 1 + i % 2});
      static_cast<void>(home.spawn(helper::use(std::move(futures), seen)));
      setter = std::thread([&q] { q.set_value(1); });
    }
    setter.join();
    p.set_value(2);
    CHECK((seen == 100 || seen == 101));
  }
}

TEST_CASE("the end of a pool resumes a when_any, or a reader, of promises that nobody sets") {
  struct helper {
    static task<> any(shared_future<int> a, shared_future<int> b, std::atomic<int>& cancelled) {
      try {
        co_await when_any(a, b);
      } catch (const plait::cancelled_error&) {
        ++cancelled;
      }
    }
    static task<> read(shared_future<int> a, bool copies, std::atomic<int>& cancelled) {
      try {
        if (copies) {
          static_cast<void>(co_await std::move(a));
        } else {
          static_cast<void>(co_await a);
        }
      } catch (const plait::cancelled_error&) {
        ++cancelled;
      }
    }
  };
  for (int i = 0; i < 100; ++i) {
    promise<int> p, q;
    auto a = p.get_future().share(), b = q.get_future().share();
    std::atomic<int> cancelled{0};
    std::thread setter;
    {
      pool home({.workers = 1 + i % 2});
      static_cast<void>(home.spawn(helper::any(a, b, cancelled)));
      static_cast<void>(home.spawn(helper::read(a, false, cancelled)));
      static_cast<void>(home.spawn(helper::read(b, true, cancelled)));
      if (i % 4 == 3) setter = std::thread([&q] { q.set_value(1); });  // at the same time as the end
    }
    if (setter.joinable()) {
      setter.join();
      CHECK(cancelled >= 1);
    } else {
      CHECK(cancelled == 3);
      q.set_value(1);
    }
    p.set_value(2);
    CHECK(a.get() + b.get() == 3);
  }
}

}  // namespace when_any_cases
