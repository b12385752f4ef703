// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/net/loopback.hpp>
#include <plait/plait.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "../support/loopback_ranks.hpp"
#include "../support/waiting.hpp"

namespace {

/// Sets an environment variable, or removes it, until the scope ends.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) before_ = old;
    if (value != nullptr) {
      ::setenv(name, value, 1);
    } else {
      ::unsetenv(name);
    }
  }
  ~variable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// A runtime of one rank, without MPI.
template <class Body>
void with_runtime(plait::options o, Body&& body) {
  plait::net::loopback_world world(1);
  plait::runtime rt(world.end(0), o);
  body(rt);
}

std::string refusal(plait::options o = {}) {
  try {
    with_runtime(o, [](plait::runtime&) {});
  } catch (const plait::error& e) {
    return e.what();
  }
  return "accepted";
}

int workers_of(plait::options o) {
  int count = 0;
  with_runtime(o, [&](plait::runtime& rt) {
    count = rt.run([]() -> plait::task<int> { co_return plait::num_workers(); }).value();
  });
  return count;
}

bool mentions(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a value of a variable that can't be parsed is an error that names variable, value and what is accepted") {
  const std::pair<const char*, std::pair<const char*, const char*>> bad[] = {
      {"PLAIT_WORKERS", {"0", "1 to"}},
      {"PLAIT_WORKERS", {"-1", "1 to"}},
      {"PLAIT_WORKERS", {"many", "1 to"}},
      {"PLAIT_WORKERS", {"2.5", "1 to"}},
      {"PLAIT_WORKERS", {"2x", "1 to"}},
      {"PLAIT_WORKERS", {"", "1 to"}},
      {"PLAIT_WORKERS", {"1000000", "1 to"}},
      {"PLAIT_WORKERS", {"nan", "1 to"}},
      {"PLAIT_STEALING", {"maybe", "on"}},
      {"PLAIT_STEALING", {"2", "on"}},
      {"PLAIT_STEALING", {"", "on"}},
      {"PLAIT_SERVER_YIELDTIME", {"fast", "seconds"}},
      {"PLAIT_SERVER_YIELDTIME", {"-0.5", "seconds"}},
      {"PLAIT_SERVER_YIELDTIME", {"1ms", "seconds"}},
      {"PLAIT_SERVER_YIELDTIME", {"inf", "seconds"}},
      {"PLAIT_WORKER_YIELDTIME", {"soon", "seconds"}},
      {"PLAIT_STALL_WARN", {"never", "seconds"}},
      {"PLAIT_STATS", {"table", "on"}},
  };
  for (const auto& [name, value_and_accepted] : bad) {
    const auto& [value, accepted] = value_and_accepted;
    const variable set(name, value);
    const auto text = refusal();
    CAPTURE(name);
    CAPTURE(value);
    CAPTURE(text);
    CHECK(mentions(text, name));
    CHECK(mentions(text, ("'" + std::string(value) + "'").c_str()));
    CHECK(mentions(text, accepted));
  }
}

TEST_CASE("PLAIT_MPI has to be a switch") {
  const variable set("PLAIT_MPI", "perhaps");
#if PLAIT_WITH_MPI
  CHECK_THROWS_WITH_AS(plait::runtime(), doctest::Contains("PLAIT_MPI"), plait::error);
#endif
}

TEST_CASE("variables are taken where a member is left open, and members overrule them") {
  const variable workers("PLAIT_WORKERS", "3");
  CHECK(workers_of({}) == 3);
  CHECK(workers_of({.workers = 2}) == 2);
  {
    const variable bad("PLAIT_WORKERS", "nonsense");
    CHECK(workers_of({.workers = 2}) == 2);
  }
  const variable none("PLAIT_WORKERS", nullptr);
  CHECK(workers_of({}) >= 1);
}

TEST_CASE("switches and times are taken in all their forms") {
  for (const char* value : {"1", "0", "on", "off", "true", "false", "yes", "no"}) {
    const variable stealing("PLAIT_STEALING", value);
    CHECK(workers_of({.workers = 1}) == 1);
    const auto o = plait::dist::resolve({});
    CHECK(o.stealing == (std::string(value) == "1" || std::string(value) == "on" || std::string(value) == "true" ||
                                 std::string(value) == "yes"
                             ? 1
                             : 0));
  }
  const variable server("PLAIT_SERVER_YIELDTIME", "0.25");
  const variable worker("PLAIT_WORKER_YIELDTIME", "1e-3");
  const variable stall("PLAIT_STALL_WARN", "0");
  const auto o = plait::dist::resolve({});
  CHECK(o.server_yieldtime == 0.25);
  CHECK(o.worker_yieldtime == 0.001);
  CHECK(o.stall_warn == 0);
  const auto kept = plait::dist::resolve({.server_yieldtime = 2, .worker_yieldtime = 3, .stall_warn = 4});
  CHECK(kept.server_yieldtime == 2);
  CHECK(kept.worker_yieldtime == 3);
  CHECK(kept.stall_warn == 4);
}

TEST_CASE("a number of workers that is impossible is an error") { CHECK(mentions(refusal({.workers = 5000}), "5000")); }

TEST_CASE("a yield time of zero, or a long one, works") {
  for (const double time : {0.0, 10.0}) {
    with_runtime({.workers = 2, .server_yieldtime = time, .worker_yieldtime = time > 0 ? 0.01 : 0},
                 [](plait::runtime& rt) {
                   CHECK(rt.run([]() -> plait::task<int> {
                             co_return co_await plait::submit([](int n) { return n; }, 4);
                           }).value() == 4);
                 });
  }
}

TEST_CASE("a runtime ends at once, however long messages may wait") {
  plait_test::on_loopback(2, {.workers = 1, .server_yieldtime = 1e6}, [](plait::runtime& rt) {
    rt.run([]() -> plait::task<void> {
      auto there = plait::submit(plait::on_rank(1), [] { return plait::rank(); });
      CHECK(co_await there == 1);
    });
  });
}

TEST_CASE("without MPI, or with PLAIT_MPI=0, a runtime is one rank") {
  const variable off("PLAIT_MPI", "0");
#if PLAIT_WITH_MPI
  const bool before = plait::net::mpi_is_alive();
#endif
  plait::runtime rt(plait::options{.workers = 2});
  CHECK(rt.rank() == 0);
  CHECK(rt.size() == 1);
  CHECK(rt.thread_level() == plait::thread_level::multiple);
  rt.run([]() -> plait::task<void> {
    CHECK(co_await plait::submit(
              plait::on_rank(0), [](int n) { return n + 1; }, 4) == 5);
    const auto all = co_await plait::spmd([] { return plait::rank(); });
    CHECK(all.size() == 1);
  });
#if PLAIT_WITH_MPI
  CHECK(plait::net::mpi_is_alive() == before);
#endif
  int argc = 1;
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  char** argv = arguments;
  plait::runtime second(argc, argv, {.workers = 1});  // beside the first
  CHECK(second.run([]() -> plait::task<int> { co_return 3; }).value() == 3);
}
