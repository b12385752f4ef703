// SPDX-License-Identifier: BSL-1.0
#include <plait/core.hpp>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using plait::future;
using plait::pool;
using plait::task;

#if PLAIT_ASAN

namespace {

/// What a process prints that does this, and how it ends: true if by an error.
template <class F>
bool fails(F wrong, std::string& said) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    wrong();
    ::_exit(0);
  }
  ::close(ends[1]);
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

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
  CHECK_FALSE(fails([] {}, said));  // the test itself may fail
  CHECK(said == "");
  const auto with_own_pool = [](auto body) {
    return [body] {
      pool p({.workers = 1});
      static_cast<void>(p.run(body()));
    };
  };
  CHECK(fails(with_own_pool([] { return helper::reads(); }), said));
  CHECK_MESSAGE(said.find("heap-use-after-free") != std::string::npos, said);
  said.clear();
  CHECK(fails(with_own_pool([] { return helper::reads_a_fork(); }), said));
  CHECK_MESSAGE(said.find("heap-use-after-free") != std::string::npos, said);
}

#endif
