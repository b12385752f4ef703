// SPDX-License-Identifier: BSL-1.0

#include "support/waiting.hpp"

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using plait::cancelled_error;
using plait::channel;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;
using plait_test::wait_until;

namespace channel_cases {

/// Counts how many live; may throw when it is copied.
struct counted {
  static inline std::atomic<int> living{0};
  int value = 0;
  explicit counted(int v) : value(v) { living.fetch_add(1); }
  counted(const counted& other) : value(other.value) {
    if (value < 0) throw std::runtime_error("copy");
    living.fetch_add(1);
  }
  counted(counted&& other) noexcept : value(std::exchange(other.value, 0)) { living.fetch_add(1); }
  counted& operator=(const counted&) = default;
  ~counted() { living.fetch_sub(1); }
};

struct alignas(64) wide {
  int value = 0;
};

task<void> send_numbers(channel<int>& to, int from, int until) {
  for (int i = from; i < until; ++i) CHECK(co_await to.send(i));
}

TEST_CASE("values arrive once and in order, whatever the capacity") {
  for (const int workers : {1, 2, 4}) {
    for (const std::size_t capacity : {0u, 1u, 7u, 1000u}) {
      pool p({.workers = workers});
      p.run([](std::size_t cap) -> task<void> {
        channel<int> numbers(cap);
        CHECK(numbers.capacity() == cap);
        auto producer = spawn([&numbers]() -> task<void> {
          co_await send_numbers(numbers, 0, 500);
          numbers.close();
        });
        int next = 0;
        while (auto n = co_await numbers.receive()) CHECK(*n == next++);
        CHECK(next == 500);
        CHECK(numbers.closed());
        CHECK(!co_await numbers.receive());
        co_await producer;
      }(capacity));
    }
  }
}

TEST_CASE("a send waits where the buffer is full, and without a buffer for its receiver") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    for (const int capacity : {0, 2}) {
      channel<int> numbers(static_cast<std::size_t>(capacity));
      int sent = 0;
      auto producer = spawn([&]() -> task<void> {
        for (int i = 0; i < 5; ++i) {
          CHECK(co_await numbers.send(i));
          ++sent;
        }
      });
      for (int i = 0; i < 100; ++i) co_await plait::yield();
      CHECK(sent == capacity);
      CHECK(*co_await numbers.receive() == 0);
      for (int i = 0; i < 100; ++i) co_await plait::yield();
      CHECK(sent == capacity + 1);
      for (int i = 1; i < 5; ++i) CHECK(*co_await numbers.receive() == i);
      co_await producer;
    }
  }());
}

TEST_CASE("many producers and consumers: each value once, each producer's in order") {
  for (const int workers : {1, 2, 4}) {
    for (const std::size_t capacity : {0u, 3u}) {
      pool p({.workers = workers});
      const long sum = p.run([](std::size_t cap) -> task<long> {
        channel<std::pair<int, int>> numbers(cap);
        std::vector<future<void>> producers;
        std::vector<future<long>> consumers;
        for (int i = 0; i < 4; ++i) {
          producers.push_back(spawn([&numbers, i]() -> task<void> {
            for (int k = 0; k < 300; ++k) CHECK(co_await numbers.send(std::pair(i, k)));
          }));
          consumers.push_back(spawn([&numbers]() -> task<long> {
            std::vector<int> last(4, -1);
            long total = 0;
            while (const auto v = co_await numbers.receive()) {
              const auto [who, k] = *v;
              if (k <= last[static_cast<std::size_t>(who)]) FAIL_CHECK("out of order");
              last[static_cast<std::size_t>(who)] = k;
              total += k + 1;
            }
            co_return total;
          }));
        }
        co_await plait::when_all(std::move(producers));
        numbers.close();
        long total = 0;
        for (const long x : co_await plait::when_all(std::move(consumers))) total += x;
        co_return total;
      }(capacity));
      CHECK(sum == 4L * 300 * 301 / 2);
    }
  }
}

TEST_CASE("a closed channel takes nothing; senders that wait fail, and what is buffered is still there") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    channel<int> numbers(2);
    CHECK(co_await numbers.send(1));
    CHECK(co_await numbers.send(2));
    int failed = 0;
    bool there = false;
    auto late = spawn([&]() -> task<void> {
      there = true;
      if (!co_await numbers.send(3)) ++failed;
      if (!co_await numbers.send(4)) ++failed;
    });
    while (!there) co_await plait::yield();
    numbers.close();
    numbers.close();
    co_await late;
    CHECK(failed == 2);
    CHECK(!numbers.try_send(5));
    CHECK(*co_await numbers.receive() == 1);
    CHECK(*numbers.try_receive() == 2);
    CHECK(!numbers.try_receive());
    CHECK(!co_await numbers.receive());
  }());
}

TEST_CASE("close wakes all who wait to receive") {
  pool p({.workers = 2});
  channel<int> numbers;
  std::atomic<int> there{0};
  std::vector<future<bool>> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(p.spawn([&]() -> task<bool> {
      there.fetch_add(1);
      co_return (co_await numbers.receive()).has_value();
    }));
  }
  wait_until([&] { return there.load() == 5; }, "all to wait");
  numbers.close();
  for (auto& f : all) CHECK(!f.get());
}

TEST_CASE("values that can only be moved, strings, wide ones, and those that throw") {
  pool p({.workers = 2});
  p.run([]() -> task<void> {
    channel<std::unique_ptr<int>> pointers(1);
    CHECK(co_await pointers.send(std::make_unique<int>(3)));
    auto full = std::make_unique<int>(4);
    CHECK(!pointers.try_send(std::move(full)));
    REQUIRE(full != nullptr);  // untouched
    CHECK(**co_await pointers.receive() == 3);
    CHECK(pointers.try_send(std::move(full)));
    CHECK(full == nullptr);
    CHECK(**pointers.try_receive() == 4);

    channel<std::string> words(1);
    const std::string word = "a word that is long enough to lie on the heap";
    CHECK(co_await words.send(word));
    CHECK(*co_await words.receive() == word);
    CHECK(words.try_send(word));
    auto unsent = words.send("never awaited: it ends with its value");
    static_cast<void>(unsent);

    channel<wide> wides(1);
    const wide five{5};
    CHECK(wides.try_send(five));
    const auto received = co_await wides.receive();
    CHECK(received->value == 5);
    CHECK(reinterpret_cast<std::uintptr_t>(&*received) % alignof(wide) == 0);

    channel<counted> values(2);
    const counted bad(-1);
    CHECK_THROWS_AS(values.try_send(bad), std::runtime_error);
    CHECK(!values.try_receive());
    CHECK(values.try_send(counted(1)));
    CHECK(co_await values.send(counted(2)));
  }());
  CHECK(counted::living.load() == 0);
}

TEST_CASE("threads that are no workers send and receive by try, and close") {
  pool p({.workers = 2});
  channel<int> in(4);
  channel<int> out;
  auto worker = p.spawn([&]() -> task<void> {
    while (auto n = co_await in.receive()) CHECK(co_await out.send(*n * 2));
    out.close();
  });
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) {
      while (!in.try_send(i)) std::this_thread::yield();
    }
    in.close();
  });
  int next = 0;
  for (;;) {
    const bool closed = out.closed();
    if (auto n = out.try_receive()) {
      CHECK(*n == 2 * next++);
    } else if (closed) {
      break;
    } else {
      std::this_thread::yield();
    }
  }
  CHECK(next == 1000);
  producer.join();
  worker.get();
}

TEST_CASE("tasks of two pools meet at a channel and stay in their pools") {
  pool first({.workers = 1});
  pool second({.workers = 1});
  channel<int> there;
  channel<int> back;
  const auto at_home = [](pool& home) {
    auto* w = plait::sched::worker::of_this_thread();
    return w != nullptr && &w->home() == &home;
  };
  auto echo = second.spawn([&]() -> task<bool> {
    bool home = true;
    while (auto n = co_await there.receive()) {
      home = home && at_home(second);
      CHECK(co_await back.send(*n + 1));
      home = home && at_home(second);
    }
    co_return home;
  });
  auto ask = first.spawn([&]() -> task<bool> {
    bool home = true;
    for (int i = 0; i < 500; ++i) {
      CHECK(co_await there.send(i));
      CHECK(*co_await back.receive() == i + 1);
      home = home && at_home(first);
    }
    there.close();
    co_return home;
  });
  CHECK(ask.get());
  CHECK(echo.get());
}

TEST_CASE("a request to stop ends a send and a receive that wait, and the value that was not sent ends") {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    channel<counted> values;
    std::atomic<int> there{0};
    auto receiver = p.spawn([&]() -> task<void> {
      there.fetch_add(1);
      static_cast<void>(co_await values.receive());
    });
    wait_until([&] { return there.load() == 1; }, "the receiver to wait");
    CHECK(!receiver.cancel());
    CHECK_THROWS_AS(receiver.get(), cancelled_error);
    CHECK(!values.try_send(counted(1)));  // nobody waits any more

    auto sender = p.spawn([&]() -> task<void> {
      there.fetch_add(1);
      static_cast<void>(co_await values.send(counted(2)));
    });
    wait_until([&] { return there.load() == 2; }, "the sender to wait");
    CHECK(!sender.cancel());
    CHECK_THROWS_AS(sender.get(), cancelled_error);
    CHECK(!values.try_receive());
    CHECK(counted::living.load() == 0);
  }
}

TEST_CASE("values beside requests to stop: what was sent is received once, what was not is not") {
  pool p({.workers = 2});
  for (int turn = 0; turn < 1000; ++turn) {
    channel<counted> values(static_cast<std::size_t>(turn % 3));
    std::atomic<std::int64_t> sent{0};
    std::atomic<std::int64_t> received{0};
    std::vector<future<void>> all;
    for (int i = 0; i < 3; ++i) {
      all.push_back(p.spawn([&, i]() -> task<void> {
        for (int k = 0; k < 5; ++k) {
          const int value = 1 + i * 100 + k;
          if (co_await values.send(counted(value))) sent.fetch_add(value * value);
        }
      }));
      all.push_back(p.spawn([&]() -> task<void> {
        for (int k = 0; k < 5; ++k) {
          if (const auto v = co_await values.receive()) received.fetch_add(v->value * v->value);
        }
      }));
    }
    if (turn % 2 == 0) std::this_thread::yield();
    all[0].cancel();
    all[1].cancel();
    if (turn % 5 == 0) {
      values.close();
    } else {
      all[static_cast<std::size_t>(turn % 4 + 2)].cancel();
    }
    std::thread closer([&values, turn] {
      if (turn % 7 == 0) values.close();
    });
    closer.join();
    for (std::size_t i = 0; i < all.size(); ++i) {  // whom nobody answers is asked to stop
      if (!all[i].wait_for(std::chrono::milliseconds(2))) values.close();
      all[i].wait();
    }
    while (const auto v = values.try_receive()) received.fetch_add(v->value * v->value);
    REQUIRE(sent.load() == received.load());
    REQUIRE(counted::living.load() == 0);
  }
}

TEST_CASE("tasks that wake each other, or yield, do not keep an older one of a single worker from its turn") {
  pool p({.workers = 1});
  p.run([]() -> task<void> {
    bool ran = false;
    auto older = spawn([&ran]() -> task<void> {
      ran = true;
      co_return;
    });
    channel<int> there;
    channel<int> back;
    auto echo = spawn([&]() -> task<void> {
      while (auto n = co_await there.receive()) CHECK(co_await back.send(*n));
    });
    while (!ran) {
      CHECK(co_await there.send(1));
      CHECK(*co_await back.receive() == 1);
    }
    there.close();
    co_await echo;
    co_await older;
  }());
  p.run([]() -> task<void> {
    bool ran = false;
    auto older = spawn([&ran]() -> task<void> {
      ran = true;
      co_return;
    });
    std::vector<future<void>> all;
    for (int i = 0; i < 100; ++i) {  // more than a worker takes from its deque between two looks at those that yielded
      all.push_back(spawn([&ran]() -> task<void> {
        while (!ran) co_await plait::yield();
      }));
    }
    co_await plait::when_all(std::move(all));
    co_await older;
  }());
}

TEST_CASE("the end of a pool ends waits at channels with cancelled_error") {
  channel<int> numbers;
  channel<int> empty;
  std::atomic<int> cancelled{0};
  std::atomic<int> there{0};
  {
    pool p({.workers = 2});
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(p.spawn([&, i]() -> task<void> {
        there.fetch_add(1);
        try {
          if (i % 2 == 0) {
            static_cast<void>(co_await numbers.send(i));
          } else {
            static_cast<void>(co_await empty.receive());
          }
        } catch (const cancelled_error&) {
          cancelled.fetch_add(1);
        }
      }));
    }
    wait_until([&] { return there.load() == 10; }, "all to wait");
  }
  CHECK(cancelled.load() == 10);
  CHECK(!numbers.try_receive());
}

}  // namespace channel_cases
