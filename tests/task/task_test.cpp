// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using plait::pool;
using plait::sync_wait;
using plait::task;

namespace task_cases {

struct move_only {
  explicit move_only(int v) : value(std::make_unique<int>(v)) {}
  std::unique_ptr<int> value;
};
struct no_default {
  no_default(int a, std::string b) : number(a), text(std::move(b)) {}
  int number;
  std::string text;
};

/// Counts its living objects.
struct tracked {
  static inline std::atomic<int> alive{0};
  tracked() { ++alive; }
  tracked(const tracked&) { ++alive; }
  tracked(tracked&&) noexcept { ++alive; }
  tracked& operator=(const tracked&) = default;
  ~tracked() { --alive; }
};

task<int> number(int n) { co_return n; }
task<> note(bool& flag) {
  flag = true;
  co_return;
}
task<move_only> make(int n) { co_return move_only(n); }
task<no_default> describe(int n) { co_return no_default(n, "text"); }
task<int&> refer(int& x) { co_return x; }
task<const std::string&> refer_const(const std::string& x) { co_return x; }
task<int> fail(const char* what) {
  throw std::out_of_range(what);
  co_return 0;
}
task<> fail_with_int() {
  throw 42;
  co_return;
}

TEST_CASE("a task is lazy: it does nothing until it is awaited") {
  bool ran = false;
  {
    auto t = note(ran);
    CHECK(t.valid());
  }
  CHECK_FALSE(ran);
  sync_wait(note(ran));
  CHECK(ran);
}

TEST_CASE("a task that never ran frees its arguments") {
  struct helper {
    static task<> take(tracked) { co_return; }
  };
  {
    auto t = helper::take(tracked{});
    CHECK(tracked::alive >= 1);
  }
  CHECK(tracked::alive == 0);
}

TEST_CASE("tasks give values, move-only values, values without default constructor, references, and nothing") {
  struct helper {
    static task<std::string> all(int& x, const std::string& s) {
      const int n = co_await number(7);
      move_only m = co_await make(8);
      no_default d = co_await describe(9);
      int& r = co_await refer(x);
      r = n + *m.value + d.number;
      const std::string& same = co_await refer_const(s);
      CHECK(&same == &s);
      bool noted = false;
      co_await note(noted);
      CHECK(noted);
      co_return d.text + std::to_string(x);
    }
  };
  int x = 0;
  const std::string s = "s";
  CHECK(sync_wait(helper::all(x, s)) == "text24");
  CHECK(&sync_wait(refer(x)) == &x);
  CHECK(*sync_wait(make(3)).value == 3);
}

TEST_CASE("a result is moved, never copied") {
  struct no_copy {
    explicit no_copy(int v) : value(v) {}
    no_copy(no_copy&& o) noexcept : value(std::exchange(o.value, -1)) {}
    no_copy(const no_copy&) = delete;
    int value;
  };
  struct helper {
    static task<no_copy> make() {
      no_copy n(5);
      co_return n;  // an implicit move
    }
    static task<int> use() {
      no_copy n = co_await make();
      co_return n.value;
    }
  };
  CHECK(sync_wait(helper::use()) == 5);
}

TEST_CASE("co_return converts") {
  struct helper {
    static task<std::string> text() { co_return "a literal"; }
    static task<std::vector<int>> list() { co_return std::vector<int>{1, 2, 3}; }
    static task<double> real() { co_return 3; }
  };
  CHECK(sync_wait(helper::text()) == "a literal");
  CHECK(sync_wait(helper::list()).size() == 3);
  CHECK(sync_wait(helper::real()) == 3.0);
}

TEST_CASE("an exception passes through awaiting tasks with its type and can be caught on the way") {
  struct helper {
    static task<int> pass() { co_return co_await fail("deep"); }
    static task<int> handle() {
      int caught = 0;
      try {
        co_await pass();
      } catch (const std::out_of_range& e) {
        caught = std::string(e.what()) == "deep" ? 1 : 2;
      }
      try {
        co_await fail_with_int();
      } catch (int n) {
        caught += n;
      }
      co_return caught;
    }
  };
  CHECK(sync_wait(helper::handle()) == 43);
  CHECK_THROWS_WITH_AS(sync_wait(helper::pass()), "deep", std::out_of_range);
  CHECK_THROWS_AS(sync_wait(fail_with_int()), int);
}

TEST_CASE("an exception unwinds the locals of every task it passes") {
  struct helper {
    static task<int> deep(int depth) {
      tracked local;
      if (depth == 0) co_return co_await fail("bottom");
      co_return co_await deep(depth - 1);
    }
  };
  CHECK_THROWS_AS(sync_wait(helper::deep(50)), std::out_of_range);
  CHECK(tracked::alive == 0);
}

TEST_CASE("a result whose move throws is an exception of the task that takes it") {
  struct bomb {
    bomb() = default;
    bomb(bomb&&) { throw std::runtime_error("moved"); }
  };
  struct helper {
    static task<bomb> make() { co_return bomb(); }
  };
  CHECK_THROWS_WITH_AS(sync_wait(helper::make()), "moved", std::runtime_error);
}

TEST_CASE("a moved-from or finished task is empty, and starting it is an error") {
  auto t = number(1);
  auto u = std::move(t);
  CHECK_FALSE(t.valid());
  CHECK(u.valid());
  CHECK_THROWS_AS(sync_wait(std::move(t)), plait::error);
  CHECK(sync_wait(std::move(u)) == 1);
  CHECK_THROWS_AS(sync_wait(std::move(u)), plait::error);
  CHECK_THROWS_AS(sync_wait(task<int>()), plait::error);
  CHECK_THROWS_AS(static_cast<void>(plait::spawn(task<int>())), plait::error);
  struct helper {
    static task<int> twice() {
      auto inner = number(2);
      const int first = co_await inner;
      int errors = 0;
      try {
        co_await inner;
      } catch (const plait::error&) {
        ++errors;
      }
      try {
        auto f = co_await plait::fork(std::move(inner));
        co_await f;
      } catch (const plait::error&) {
        ++errors;
      }
      co_return 10 * first + errors;
    }
  };
  CHECK(sync_wait(helper::twice()) == 22);
}

TEST_CASE("tasks can be stored, assigned and swapped") {
  std::vector<task<int>> tasks;
  for (int i = 0; i < 10; ++i) tasks.push_back(number(i));
  tasks[3] = number(30);
  std::swap(tasks[0], tasks[1]);
  struct helper {
    static task<int> add(std::vector<task<int>> ts) {
      int sum = 0;
      int factor = 1;
      for (auto& t : ts) sum += factor++ * co_await std::move(t);
      co_return sum;
    }
  };
  CHECK(sync_wait(helper::add(std::move(tasks))) ==
        1 * 1 + 2 * 0 + 3 * 2 + 4 * 30 + 5 * 4 + 6 * 5 + 7 * 6 + 8 * 7 + 9 * 8 + 10 * 9);
}

TEST_CASE("a recursion of 100,000 tasks by co_await needs no stack") {
  struct helper {
    static task<int> down(int depth) {
      if (depth == 0) co_return 0;
      co_return co_await down(depth - 1) + 1;
    }
    static task<int> down_and_throw(int depth) {
      if (depth == 0) throw std::runtime_error("bottom");
      co_return co_await down_and_throw(depth - 1) + 1;
    }
  };
  pool p({.workers = 1});
  CHECK(p.run(helper::down(100000)) == 100000);
  CHECK_THROWS_AS(p.run(helper::down_and_throw(20000)), std::runtime_error);
}

TEST_CASE("a task may be a template, a member, a lambda without captures, and virtual") {
  struct base {
    virtual ~base() = default;
    virtual task<int> value(int n) const = 0;
  };
  struct doubled final : base {
    task<int> value(int n) const override { co_return 2 * n; }
  };
  const doubled d;
  const base& b = d;
  CHECK(sync_wait(b.value(4)) == 8);
  const auto lambda = [](int n) -> task<int> { co_return n + 1; };
  CHECK(sync_wait(lambda(4)) == 5);
}

TEST_CASE("large and over-sized frames work") {
  struct helper {
    static task<int> big(int depth) {
      int space[2000];
      for (int i = 0; i < 2000; ++i) space[i] = i + depth;
      if (depth > 0) co_await big(depth - 1);
      co_return space[1999] - space[0];
    }
  };
  CHECK(sync_wait(helper::big(200)) == 1999);
}

TEST_CASE("tasks are movable and not copyable, and so are futures") {
  static_assert(std::is_nothrow_move_constructible_v<task<int>> && !std::is_copy_constructible_v<task<int>>);
  static_assert(std::is_nothrow_move_constructible_v<plait::future<int>> &&
                !std::is_copy_constructible_v<plait::future<int>>);
  static_assert(std::is_same_v<task<>, task<void>> && std::is_same_v<plait::future<>, plait::future<void>>);
  static_assert(std::is_trivially_destructible_v<plait::pool_options>);
}

}  // namespace task_cases
