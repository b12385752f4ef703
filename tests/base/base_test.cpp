// SPDX-License-Identifier: BSL-1.0
#include <plait/base/clock.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/functional.hpp>
#include <plait/base/symbol.hpp>
#include <plait/base/thread.hpp>
#include <plait/base/thread_signal.hpp>
#include <plait/base/thread_slot.hpp>
#include <plait/base/topology.hpp>
#include <plait/base/type_name.hpp>

#include <doctest/doctest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "waiting.hpp"

using namespace std::chrono_literals;
namespace base = plait::base;

TEST_CASE("usable processors follow the affinity mask of the process") {
  const unsigned before = base::usable_processors();
  CHECK(before >= 1);
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CHECK(before <= static_cast<unsigned>(CPU_COUNT(&all)));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) {
      CPU_SET(i, &one);
      break;
    }
  }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const unsigned with_one = base::usable_processors();
  sched_setaffinity(0, sizeof all, &all);
  CHECK(with_one == 1);
  CHECK(base::usable_processors() == before);
}

TEST_CASE("threads that start apart may use all processors of theirs afterwards") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const auto count = static_cast<unsigned>(CPU_COUNT(&all));
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  for (const unsigned of : {count, count + 1}) {  // no thread a processor: nothing is done
    for (unsigned i = 0; i < count; ++i) {
      cpu_set_t then;
      std::thread([&] {
        base::start_apart(i, of);
        sched_getaffinity(0, sizeof then, &then);
      }).join();
      CHECK(CPU_EQUAL(&then, &all));
    }
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  std::thread([&] {
    sched_setaffinity(0, sizeof one, &one);
    base::start_apart(0, 1);
    cpu_set_t then;
    sched_getaffinity(0, sizeof then, &then);
    CHECK(CPU_EQUAL(&then, &one));
  }).join();
}

TEST_CASE("the quota of control groups is that of the tightest one, rounded up") {
  namespace fs = std::filesystem;
  const fs::path top = fs::temp_directory_path() / ("plait_cgroups_" + std::to_string(::getpid()));
  struct remover {
    fs::path what;
    ~remover() { fs::remove_all(what); }
  } const removed{top};
  const auto write = [&](const std::string& name, const std::string& text) {
    fs::create_directories((top / name).parent_path());
    std::ofstream(top / name) << text;
  };
  const auto quota = [&](const std::string& mount) {
    return base::detail::quota_processors((top / mount).c_str(), (top / "member").c_str());
  };
  write("member", "0::/\n");
  CHECK(quota("nothing") == 0);
  write("v2/cpu.max", "max 100000\n");
  CHECK(quota("v2") == 0);
  write("v2/cpu.max", "150000 100000\n");
  CHECK(quota("v2") == 2);
  write("v2/cpu.max", "5000 100000\n");
  CHECK(quota("v2") == 1);
  write("v2/cpu.max", "400000 100000\n");
  CHECK(quota("v2") == 4);
  write("member", "0::/system.slice/a.service\n");
  CHECK(quota("v2") == 4);  // a group that can't be seen from here
  write("v2/system.slice/a.service/cpu.max", "max 100000\n");
  write("v2/system.slice/cpu.max", "300000 100000\n");
  CHECK(quota("v2") == 3);
  write("v2/system.slice/a.service/cpu.max", "20000 10000\n");
  CHECK(quota("v2") == 2);
  write("v1/cpu/cpu.cfs_quota_us", "-1\n");
  write("v1/cpu/cpu.cfs_period_us", "100000\n");
  write("member", "7:memory:/b\n4:cpu,cpuacct:/a/b\n0::/\n");
  CHECK(quota("v1") == 0);
  write("v1/cpu/a/b/cpu.cfs_quota_us", "250000\n");
  write("v1/cpu/a/b/cpu.cfs_period_us", "100000\n");
  CHECK(quota("v1") == 3);
  write("v1/cpu/cpu.cfs_quota_us", "100000\n");
  CHECK(quota("v1") == 1);
}

TEST_CASE("the floor of the stack lies below the running function, in every thread") {
  const auto check = [] {
    auto* floor = base::stack_floor();
    char here = 0;
    CHECK(floor != nullptr);
    CHECK(floor < &here);
    CHECK(&here - floor < std::ptrdiff_t{1} << 40);
  };
  check();
  base::thread(check).join();
}

TEST_CASE("a thread is joined by its end, once") {
  std::atomic<int> ran{0};
  {
    base::thread t([&, kept = std::make_unique<int>(7)] { ran += *kept; });
    base::thread moved = std::move(t);
    t.join();
  }
  CHECK(ran == 7);
  base::thread none;
  none.join();
}

TEST_CASE("what is read of the running thread is its own") {
  int own = 0, other = 0;
  base::set_thread_worker(&own);
  const void* identity = base::thread_identity();
  base::thread([&] {
    CHECK(base::thread_worker() == nullptr);
    base::set_thread_worker(&other);
    CHECK(base::thread_worker() == &other);
    CHECK(base::thread_identity() != identity);
  }).join();
  CHECK(base::thread_worker() == &own);
  CHECK(base::thread_identity() == identity);
  base::set_thread_worker(nullptr);
}

TEST_CASE("a thread signal wakes its waiter, and a wait with a limit comes back") {
  base::thread_signal signal;
  CHECK_FALSE(signal.wait_until(std::chrono::steady_clock::now() - 1s));
  CHECK_FALSE(signal.wait_until(std::chrono::steady_clock::now() + 2ms));
  base::thread setter([&] { signal.set(); });
  signal.wait();
  CHECK(signal.is_set());
  CHECK(signal.wait_until(std::chrono::steady_clock::time_point::max()));
  setter.join();
  signal.reset();
  CHECK_FALSE(signal.is_set());
}

TEST_CASE("a deadline too far away is no deadline, whatever its unit") {
  using clock = std::chrono::steady_clock;
  CHECK(base::deadline_in(std::chrono::hours::max()) == clock::time_point::max());
  CHECK(base::deadline_in(std::chrono::nanoseconds::max()) == clock::time_point::max());
  CHECK(base::deadline_in(std::chrono::duration<double>(1e300)) == clock::time_point::max());
  CHECK(base::deadline_in(std::chrono::duration<double>(-5.0)) < clock::now());
  CHECK(base::deadline_in(10min) > clock::now() + 9min);
  CHECK(base::deadline_in(10min) < clock::now() + 11min);
}

namespace {
struct counted {
  static inline int alive = 0;
  explicit counted(int v) : value(v) {
    if (v == 5) throw std::runtime_error("five");
    ++alive;
  }
  counted(const counted&) = delete;
  ~counted() { --alive; }
  alignas(128) int value;
};
}  // namespace

TEST_CASE("a fixed array constructs, aligns and destroys its objects, also where a constructor throws") {
  {
    base::fixed_array<counted> a(4, [](void* place, std::size_t i) { ::new (place) counted(static_cast<int>(i)); });
    CHECK(a.size() == 4);
    CHECK(a[3].value == 3);
    CHECK(reinterpret_cast<std::uintptr_t>(&a[1]) % 128 == 0);
    CHECK(counted::alive == 4);
  }
  CHECK(counted::alive == 0);
  const auto make_six = [] {
    base::fixed_array<counted> a(6, [](void* place, std::size_t i) { ::new (place) counted(static_cast<int>(i)); });
  };
  CHECK_THROWS_AS(make_six(), std::runtime_error);
  CHECK(counted::alive == 0);
}

TEST_CASE("invoke calls functions and pointers to members") {
  struct thing {
    int factor;
    int times(int x) const { return factor * x; }
  };
  const thing t{3};
  CHECK(base::invoke([](int a, int b) { return a - b; }, 5, 2) == 3);
  CHECK(base::invoke(&thing::times, t, 4) == 12);
  CHECK(base::invoke(&thing::times, &t, 5) == 15);
  CHECK(base::invoke(&thing::factor, t) == 3);
}

TEST_CASE("a function_ref calls what it refers to") {
  int calls = 0;
  auto add = [&](int n) { return calls += n; };
  plait::function_ref<int(int)> f = add;
  CHECK(f(2) == 2);
  CHECK(f(3) == 5);
  CHECK(calls == 5);
}

int a_function_with_a_name(int n) { return n; }

TEST_CASE("names are readable") {
  CHECK(plait::type_name(typeid(int)) == "int");
  CHECK(plait::type_name(typeid(std::vector<double>)).find("std::vector<double") == 0);
  CHECK(plait::demangle("no mangled name") == "no mangled name");
  CHECK(base::function_at(nullptr, "something") == "something");
  CHECK(base::function_at(reinterpret_cast<const void*>(&a_function_with_a_name), "?") == "a_function_with_a_name");
}

TEST_CASE("every error is an error of plait and a runtime_error") {
  const auto caught_as = [](auto thrown) {
    try {
      throw thrown;
    } catch (const plait::error& e) {
      return std::string(e.what());
    }
  };
  CHECK(caught_as(plait::cancelled_error()).find("cancelled") != std::string::npos);
  CHECK(caught_as(plait::timeout_error()).find("time limit") != std::string::npos);
  CHECK(caught_as(plait::registry_mismatch("x")) == "x");
  const plait::remote_error e(3, "node7", "work(int)", "my_error", "broken");
  CHECK(e.rank() == 3);
  const std::string what = e.what();
  for (const char* part : {"3", "node7", "work(int)", "my_error", "broken"}) {
    CHECK(what.find(part) != std::string::npos);
  }
  CHECK_THROWS_AS(throw plait::error("x"), std::runtime_error);
}
