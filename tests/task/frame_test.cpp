// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>

#include <string>

#include "child_process.hpp"

using plait::future;
using plait::pool;
using plait::task;

#if PLAIT_ASAN

TEST_CASE("the address sanitizer finds the use of a frame that has ended") {
  struct helper {
    static task<const int*> local() {
      const int here = 5;
      co_await plait::yield();  // so it lies in the frame
      co_return &here;          // ends with the frame
    }
    static task<int> reads() {
      const int* gone = co_await local();
      co_return *gone;
    }
    static task<int> reads_a_fork() {
      auto f = co_await plait::fork(local());
      co_await plait::yield();
      const int* gone = co_await f;
      co_return *gone;
    }
  };
  std::string said;
  CHECK_FALSE(plait_test::fails([] {}, said));  // the test itself may fail
  CHECK(said == "");
  const auto with_own_pool = [](auto body) {
    return [body] {
      pool p({.workers = 1});
      static_cast<void>(p.run(body()));
    };
  };
  CHECK(plait_test::fails(with_own_pool([] { return helper::reads(); }), said));
  CHECK_MESSAGE(said.find("heap-use-after-free") != std::string::npos, said);
  said.clear();
  CHECK(plait_test::fails(with_own_pool([] { return helper::reads_a_fork(); }), said));
  CHECK_MESSAGE(said.find("heap-use-after-free") != std::string::npos, said);
}

#endif
