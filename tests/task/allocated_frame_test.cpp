// SPDX-License-Identifier: BSL-1.0

// Coroutines that say where their frames come from.

#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

using plait::fork;
using plait::pool;
using plait::spawn;
using plait::sync_wait;
using plait::task;

namespace allocated_frame_cases {

/// Counts what is taken and given back, and checks that the two agree.
struct counting_resource final : std::pmr::memory_resource {
  std::atomic<long> frames{0}, bytes{0}, total{0};
  std::atomic<bool> exhausted{false};

  void* do_allocate(std::size_t size, std::size_t alignment) override {
    if (exhausted) throw std::bad_alloc();
    ++frames;
    ++total;
    bytes += static_cast<long>(size);
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t alignment) override {
    --frames;
    bytes -= static_cast<long>(size);
    std::pmr::new_delete_resource()->deallocate(p, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// An allocator with a state that is not trivial.
template <class T>
struct counting_allocator {
  using value_type = T;
  explicit counting_allocator(std::shared_ptr<std::atomic<long>> c) : count(std::move(c)) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : count(other.count) {}
  T* allocate(std::size_t n) {
    ++*count;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    --*count;
    std::allocator<T>().deallocate(p, n);
  }
  friend bool operator==(const counting_allocator& a, const counting_allocator& b) { return a.count == b.count; }
  std::shared_ptr<std::atomic<long>> count;
};

using resource = std::pmr::memory_resource*;

task<int> add(std::allocator_arg_t, resource, int a, int b) {
  co_await plait::yield();
  co_return a + b;
}
task<int> stored(std::allocator_arg_t, const std::pmr::polymorphic_allocator<>&, int n) { co_return n; }
task<> nothing(std::allocator_arg_t, resource) { co_return; }
task<int&> refer(std::allocator_arg_t, resource, int& x) { co_return x; }
task<std::unique_ptr<int>> make(std::allocator_arg_t, counting_allocator<int>, int n) {
  co_return std::make_unique<int>(n);
}
task<> fail(std::allocator_arg_t, resource) {
  co_await plait::yield();
  throw std::runtime_error("no");
}
task<long> fib(std::allocator_arg_t tag, resource from, int n) {
  if (n < 2) co_return n;
  auto a = co_await fork(fib(tag, from, n - 1));
  const long b = co_await fib(tag, from, n - 2);
  co_return co_await a + b;
}

struct counter {
  int value;
  task<int> get(std::allocator_arg_t, resource) const { co_return value; }
};

struct alignas(32) wide {
  double values[4];
};
task<bool> aligned(std::allocator_arg_t, resource) {
  wide w{{1, 2, 3, 4}};
  co_await plait::yield();
  co_return reinterpret_cast<std::uintptr_t>(&w) % 16 == 0 && w.values[3] == 4;
}

TEST_CASE("a coroutine takes its frame from the resource after std::allocator_arg and gives it back") {
  counting_resource r;
  CHECK(sync_wait(add(std::allocator_arg, &r, 1, 2)) == 3);
  CHECK(r.total == 1);
  CHECK(r.frames == 0);
  CHECK(r.bytes == 0);
  CHECK(sync_wait(stored(std::allocator_arg, &r, 7)) == 7);
  sync_wait(nothing(std::allocator_arg, &r));
  int x = 0;
  CHECK(&sync_wait(refer(std::allocator_arg, &r, x)) == &x);
  CHECK(sync_wait(aligned(std::allocator_arg, &r)));
  CHECK(r.total == 5);
  CHECK(r.bytes == 0);
}

/// A compiler that sees a frame from its start to its end may put it elsewhere.
template <class T>
[[gnu::noinline]] T out_of_sight(T t) {
  asm volatile("");
  return t;
}

TEST_CASE("an allocator with a state is kept until the frame ends") {
  auto count = std::make_shared<std::atomic<long>>(0);
  {
    const auto t = out_of_sight(make(std::allocator_arg, counting_allocator<int>(count), 5));
    CHECK(*count == 1);
    CHECK(count.use_count() == 3);  // with the parameter, and what lies behind the frame
  }
  CHECK(*count == 0);
  auto made = sync_wait(make(std::allocator_arg, counting_allocator<int>(count), 5));
  CHECK(*made == 5);
  CHECK(*count == 0);
  CHECK(count.use_count() == 1);
}

TEST_CASE("members and lambdas take their frames from where they are told, too") {
  counting_resource r;
  const counter c{4};
  CHECK(sync_wait(c.get(std::allocator_arg, &r)) == 4);
  CHECK(r.total == 1);
  int captured = 5;
  auto lambda = [&captured](std::allocator_arg_t, resource, int n) -> task<int> { co_return captured + n; };
  CHECK(sync_wait(lambda(std::allocator_arg, &r, 1)) == 6);
  CHECK(r.total == 2);
  CHECK(r.frames == 0);
}

TEST_CASE("forked children with a resource in many threads give all back") {
  counting_resource r;
  pool p({.workers = 3});
  CHECK(p.run(fib(std::allocator_arg, &r, 15)) == 610);
  CHECK(r.total == 1973);
  CHECK(r.frames == 0);
  CHECK(r.bytes == 0);
}

TEST_CASE("spawned tasks end their frames with the last who needs them") {
  counting_resource r;
  pool p({.workers = 2});
  {
    auto f = p.spawn(add(std::allocator_arg, &r, 2, 3));
    f.wait();
    CHECK(f.result() == 5);
    CHECK(r.frames == 1);
  }
  CHECK(r.frames == 0);
  static_cast<void>(p.spawn(nothing(std::allocator_arg, &r)));
  p.run(plait::named("a name around it", nothing(std::allocator_arg, &r)));
}

TEST_CASE("spawn of a function and such arguments gives both frames to the resource") {
  counting_resource r;
  {
    pool p({.workers = 1});
    CHECK(p.spawn(add, std::allocator_arg, &r, 2, 3).get() == 5);
  }
  CHECK(r.total == 2);
  CHECK(r.frames == 0);
}

TEST_CASE("a task that throws, or never runs, gives its frame back") {
  counting_resource r;
  CHECK_THROWS_AS(sync_wait(fail(std::allocator_arg, &r)), std::runtime_error);
  CHECK(r.frames == 0);
  { const auto never = fail(std::allocator_arg, &r); }
  CHECK(r.frames == 0);
  {
    pool p({.workers = 1});
    p.run([](counting_resource& from) -> task<> {
      auto f = spawn(fail(std::allocator_arg, &from));
      CHECK(f.cancel());
      co_return;
    }(r));
  }
  CHECK(r.frames == 0);
}

TEST_CASE("a resource that has no memory makes the call throw") {
  counting_resource r;
  r.exhausted = true;
  CHECK_THROWS_AS(sync_wait(add(std::allocator_arg, &r, 1, 2)), std::bad_alloc);
}

}  // namespace allocated_frame_cases
