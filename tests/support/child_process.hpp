// SPDX-License-Identifier: BSL-1.0
#pragma once

// For what must end a program.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace plait_test {

/// Does it in a child process, which has none of this one's threads. Whether that ends by an error; adds what it writes
/// to stderr.
template <class F>
bool fails(F wrong, std::string& said) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(ends[1], 2);
    ::close(ends[0]);
    std::signal(SIGABRT, SIG_DFL);  // doctest has a handler
    ::alarm(60);
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

}  // namespace plait_test
