// SPDX-License-Identifier: BSL-1.0

// The forms in which co_await and lambdas occur in programs, with each compiler, and what must not be kept across a
// suspension.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

// g++ 12 frees some temporaries of class type twice: in a conditional expression with co_await, and lambdas with
// captures inside of the co_await expression. Name them first there.
#if defined(__clang__) || __GNUC__ >= 13
#define PLAIT_TEST_ALL_FORMS 1
#else
#define PLAIT_TEST_ALL_FORMS 0
#endif

using plait::fork;
using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace forms_cases {

/// Long enough to lie on the heap.
const std::string long_text(40, 'q');

task<int> number(int n) {
  co_await plait::yield();
  co_return n;
}
task<std::string> text() {
  co_await plait::yield();
  co_return long_text;
}
task<std::pair<int, std::string>> both() {
  co_await plait::yield();
  co_return {7, long_text};
}
task<std::optional<int>> maybe(int n) {
  co_await plait::yield();
  co_return n > 0 ? std::optional(n) : std::nullopt;
}

/// On one and on two workers.
template <class Make>
void check_each(Make make) {
  for (const int workers : {1, 2}) {
    pool p({.workers = workers});
    for (int i = 0; i < 20; ++i) REQUIRE(p.run(make()));
  }
}

TEST_CASE("co_await in conditional expressions") {
  struct form {
    static task<bool> run(bool yes) {
      const int a = yes ? co_await number(1) : co_await number(2);
      bool right = a == (yes ? 1 : 2);
#if PLAIT_TEST_ALL_FORMS
      const std::string b = yes ? co_await text() : std::string("short");
      const std::string c = co_await number(1) == 1 ? co_await text() : co_await text() + "x";
      right = right && b == (yes ? long_text : "short") && c == long_text;
#endif
      co_return right;
    }
  };
  check_each([] { return form::run(true); });
  check_each([] { return form::run(false); });
}

TEST_CASE("co_await with structured bindings") {
  struct form {
    static task<bool> run() {
      auto [n, s] = co_await both();
      const auto& [m, t] = co_await both();
      auto [x, y] = co_await plait::when_all(number(3), text());
      co_return n == 7 && s == long_text&& m == 7 && t == long_text&& x == 3 && y == long_text;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("co_await in conditions, loops and logical operators") {
  struct form {
    static task<bool> run() {
      int rounds = 0;
      for (int i = co_await number(0); i < co_await number(3); i += co_await number(1)) ++rounds;
      while (co_await number(rounds) < 5) ++rounds;
      do {
        ++rounds;
      } while (co_await number(rounds) < 8);
      bool right = rounds == 8;
      if (auto m = co_await maybe(4)) right = right && *m == 4;
      if (const int n = co_await number(2); n == 2) right = right && true;
      right = right && co_await number(1) == 1 && (co_await number(0) == 1 || co_await number(5) == 5);
      switch (co_await number(3)) {
        case 3:
          break;
        default:
          right = false;
      }
      co_return right;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("co_await in arithmetic, arguments and comparisons, with temporaries beside it") {
  struct form {
    static int add(int a, int b, int c) { return a + b + c; }
    static task<bool> run() {
      const int sum = co_await number(1) + 2 * co_await number(3);
      const int called = add(co_await number(1), 2, co_await number(3));
      const std::string joined = std::string("a long enough prefix, ") + co_await text() + std::string(30, 'z');
      const auto size = (co_await text()).size() + std::string(co_await text()).size();
      co_return sum == 7 && called == 6 && joined == "a long enough prefix, " + long_text + std::string(30, 'z') &&
          size == 80;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("co_await of futures in expressions") {
  struct form {
    static task<bool> run() {
      auto a = co_await fork(number(1));
      auto b = spawn(number(2));
      auto c = co_await fork(text());
      const int sum = co_await a + co_await b;
      const bool same = co_await c == long_text;
      const int direct = co_await co_await fork(number(4));
      const int spawned = co_await spawn(number(5));
      co_return sum == 3 && same&& direct == 4 && spawned == 5;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("co_await in initialisers of arrays, tuples and containers") {
  struct form {
    static task<bool> run() {
      const int a = co_await number(1), b = co_await number(2);
      std::vector<int> v{a, b};
      v.push_back(co_await number(3));
      std::map<int, std::string> m;
      m[co_await number(4)] = co_await text();
      auto t = std::make_tuple(co_await number(5), co_await text());
      const std::array<int, 2> pair{a, b};
      co_return v.size() == 3 && v[2] == 3 && m.at(4) == long_text&& std::get<0>(t) == 5 &&
          std::get<1>(t) == long_text&& pair[1] == 2;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("co_await inside of try, and beside objects with destructors") {
  struct guard {
    explicit guard(int& n) : alive(n) { ++alive; }
    ~guard() { --alive; }
    guard(const guard&) = delete;
    int& alive;
  };
  struct form {
    static task<int> fail() {
      co_await plait::yield();
      throw std::string("thrown");
    }
    static task<bool> run() {
      int alive = 0;
      bool caught = false;
      std::string after;
      try {
        const guard g(alive);
        co_await number(1);
        if (alive == 1) co_await fail();
      } catch (const std::string& s) {
        caught = s == "thrown";
      }
      if (caught) after = co_await text();  // not allowed inside of the handler itself
      co_return caught&& alive == 0 && after == long_text;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("lambda coroutines with captures that outlive their tasks, and reference captures of the awaiting task") {
  struct form {
    static task<bool> run() {
      std::string kept = long_text;
      int count = 0;
      const auto by_reference = [&](int n) -> task<int> {
        count += n;
        co_await plait::yield();
        co_return static_cast<int>(kept.size()) + n;
      };
      const auto by_value = [kept, n = std::make_shared<int>(3)]() -> task<int> {
        co_await plait::yield();
        co_return static_cast<int>(kept.size()) + *n;
      };
      const int a = co_await by_reference(1);
      auto f = co_await fork(by_reference(2));
      auto g = co_await fork(by_value());
      const int b = co_await f;
      const int c = co_await g;
      auto moved = [text = std::string(kept)]() -> task<std::size_t> {
        co_await plait::yield();
        co_return text.size();
      };
      auto h = spawn(std::move(moved));  // owns the lambda
      const auto d = co_await h;
      co_return a == 41 && b == 42 && c == 43 && d == 40 && count == 3;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("reference parameters of forked and spawned coroutines refer to copies or to what was named") {
  struct form {
    static task<std::size_t> length(const std::string& s, const std::vector<int>& v) {
      for (int i = 0; i < 3; ++i) co_await plait::yield();
      co_return s.size() + v.size();
    }
    static task<bool> run() {
      future<std::size_t> f, g;
      {
        const std::string gone = long_text;
        const std::vector<int> values(5);
        f = spawn(&length, gone, values);
        g = co_await fork(&length, "converted on the way, and long enough", values);
      }
      const auto a = co_await f;
      const auto b = co_await g;
      co_return a == 45 && b == 42;
    }
  };
  check_each([] { return form::run(); });
}

TEST_CASE("what belongs to the thread is read anew after a suspension") {
  struct form {
    static task<int> hop(int rounds) {
      int wrong = 0;
      for (int i = 0; i < rounds; ++i) {
        errno = 0;
        co_await plait::yield();
        // The worker that the library sees must be the one whose thread this is.
        const auto* w = plait::sched::worker::of_this_thread();
        wrong += w == nullptr || w->index() != plait::this_worker::id();
        auto f = co_await fork(number(1));  // uses the worker's deque: a wrong one would be a race
        co_await f;
      }
      co_return wrong;
    }
    static task<bool> run() {
      std::vector<future<int>> futures;
      for (int i = 0; i < 4; ++i) futures.push_back(spawn(hop(50)));
      int wrong = 0;
      for (auto& f : futures) wrong += co_await f;
      co_return wrong == 0;
    }
  };
  check_each([] { return form::run(); });
}

#if PLAIT_TEST_ALL_FORMS
TEST_CASE("a lambda with captures inside of the co_await expression") {
  struct form {
    static task<bool> run() {
      const auto n = co_await [text = std::string(long_text)]() -> task<std::size_t> {
        co_await plait::yield();
        co_return text.size();
      }();
      auto f = co_await fork([text = std::string(long_text)] { return text.size(); });
      co_return n == 40 && co_await f == 40;
    }
  };
  check_each([] { return form::run(); });
}
#endif

}  // namespace forms_cases
