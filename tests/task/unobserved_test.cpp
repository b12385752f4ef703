// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "waiting.hpp"

using plait::future;
using plait::pool;
using plait::spawn;
using plait::task;

namespace unobserved_cases {

/// Collects what is reported while it lives.
class collected {
 public:
  collected() {
    before_ = plait::set_unobserved_exception_handler([this](std::exception_ptr e, std::string_view name) {
      const std::lock_guard lock(mutex_);
      try {
        std::rethrow_exception(e);
      } catch (const std::exception& x) {
        texts_.emplace_back(x.what());
      } catch (...) {
        texts_.emplace_back("?");
      }
      names_.emplace_back(name);
    });
  }
  ~collected() { plait::set_unobserved_exception_handler(std::move(before_)); }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return texts_.size();
  }
  std::string text(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return texts_.at(i);
  }
  std::string name(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return names_.at(i);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_, names_;
  plait::unobserved_exception_handler before_;
};

task<> a_task_that_throws(const char* what) {
  co_await plait::yield();
  throw std::runtime_error(what);
}

TEST_CASE("the exception of a detached task goes to the handler, with the task's name, once") {
  collected c;
  {
    pool p({.workers = 2});
    { auto f = p.spawn(a_task_that_throws("detached")); }
  }
  REQUIRE(c.count() == 1);
  CHECK(c.text(0) == "detached");
  CHECK(c.name(0) == "unobserved_cases::a_task_that_throws");
}

TEST_CASE("the exception of a task whose future is dropped after its end goes to the handler") {
  collected c;
  pool p({.workers = 1});
  {
    auto f = p.spawn(a_task_that_throws("waited for"));
    f.wait();
    CHECK(c.count() == 0);
  }
  plait_test::wait_until([&] { return c.count() == 1; }, "the report");
}

TEST_CASE("the exception of a dropped fork goes to the handler") {
  struct helper {
    static task<> parent() {
      { auto f = co_await plait::fork(a_task_that_throws("forked")); }
      co_return;
    }
  };
  collected c;
  pool({.workers = 1}).run(helper::parent());
  REQUIRE(c.count() == 1);
  CHECK(c.text(0) == "forked");
}

TEST_CASE("an exception that somebody has seen is not reported") {
  collected c;
  {
    pool p({.workers = 2});
    auto f = p.spawn(a_task_that_throws("seen"));
    CHECK(f.exception() != nullptr);
    auto g = p.spawn(a_task_that_throws("got"));
    CHECK_THROWS_AS(g.get(), std::runtime_error);
    auto h = p.spawn(a_task_that_throws("looked"));
    CHECK_THROWS_AS(h.result(), std::runtime_error);
    CHECK_THROWS_AS(p.run(a_task_that_throws("run")), std::runtime_error);
    auto i = p.spawn(a_task_that_throws("by a callback"));
    i.add_done_callback([](const future<>& done) { static_cast<void>(done.exception()); });
    i.wait();
  }
  CHECK(c.count() == 0);
}

TEST_CASE("what a callback throws goes to the handler and harms nothing") {
  collected c;
  pool p({.workers = 1});
  auto f = p.spawn([] { return 3; });
  f.add_done_callback([](const future<int>&) { throw std::runtime_error("callback"); });
  f.add_done_callback([](const future<int>&) { throw 7; });
  CHECK(f.get() == 3);
  REQUIRE(c.count() == 2);
  CHECK(c.text(0) == "callback");
  CHECK(c.text(1) == "?");
}

TEST_CASE("a handler that throws does not end the program") {
  auto before = plait::set_unobserved_exception_handler([](std::exception_ptr, std::string_view) { throw 1; });
  {
    pool p({.workers = 1});
    auto f = p.spawn(a_task_that_throws("handler throws"));
  }
  plait::set_unobserved_exception_handler(std::move(before));
}

TEST_CASE("setting a handler gives the one before") {
  auto before = plait::set_unobserved_exception_handler([](std::exception_ptr, std::string_view) {});
  auto mine = plait::set_unobserved_exception_handler(std::move(before));
  CHECK(static_cast<bool>(mine));
}

TEST_CASE("without a handler an exception is reported in one line, whatever its text") {
  std::string said;
  CHECK(plait_test::fails(
      [] {
        plait::set_unobserved_exception_handler({});
        plait::detail::report_unobserved(std::make_exception_ptr(std::runtime_error("two\r\nlines")), "a\ntask");
        ::_exit(1);
      },
      said));
  CHECK(said == "plait: unobserved exception in a\\ntask: std::runtime_error: two\\r\\nlines\n");
}

TEST_CASE("what is thrown that is no exception, or says nothing, is reported by its text and type") {
  struct says_nothing : std::exception {
    const char* what() const noexcept override { return nullptr; }
  };
  const auto described = [](auto thrown) { return plait::detail::describe(std::make_exception_ptr(thrown)); };
  CHECK(described(static_cast<const char*>("a literal")) == "const char*: a literal");
  CHECK(described(static_cast<const char*>(nullptr)) == "const char*: a null pointer");
  CHECK(described(std::string("a text")) == "std::string: a text");
  CHECK(described(42) == "int");
  CHECK(described(says_nothing()).find("says_nothing: ") != std::string::npos);
}

}  // namespace unobserved_cases
