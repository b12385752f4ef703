// SPDX-License-Identifier: BSL-1.0

// launch, and runtimes that initialise MPI themselves. A plait::environment keeps MPI alive from one to the next.

#include <plait/plait.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "../support/captured_stderr.hpp"
#include "../support/doctest_main.hpp"
#include "../support/waiting.hpp"

namespace launch_cases {

int failures = 0;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "launch_test, rank %d: not so: %s\n", plait_test::rank_in_environment(), what.c_str());
  ++failures;
}

int calls = 0;
plait::task<void> nothing() {
  ++calls;
  co_return;
}
plait::task<int> seven() {
  co_return co_await plait::submit(plait::on_rank(plait::size() - 1), [] { return 7; });
}
plait::task<int> count_arguments(int argc, char** argv) {
  co_return argv[argc] == nullptr&& std::string(argv[1]) == "first" ? 100 + argc : -1;
}
plait::task<void> fails() {
  co_await plait::submit(plait::cyclic, [] {});
  throw std::out_of_range("the reason");
}
plait::task<void> fails_in_lines() {
  throw std::out_of_range("two\r\nlines\n");
  co_return;
}
struct own_error {};
plait::task<int> fails_strangely() {
  throw own_error();
  co_return 0;
}
plait::task<int> workers() { co_return plait::num_workers() / plait::size(); }

void all(int argc, char** argv) {
  const bool first = plait_test::rank_in_environment() <= 0;
  expect(plait::launch<nothing>(argc, argv) == 0, "a task without result gives 0");
  expect(calls == (first ? 1 : 0), "the main task runs on rank 0 only");
  expect(plait::launch<seven>(argc, argv) == 7, "the task's number is the exit code of every rank");
  char name[] = "program";
  char one[] = "first";
  char two[] = "second";
  char* arguments[] = {name, one, two, nullptr};
  expect(plait::launch<count_arguments>(3, arguments) == 103, "the main task gets the arguments");
  expect(plait::launch<workers>(argc, argv, {.workers = 3}) == 3, "launch takes options");
  {
    plait_test::captured_stderr log;
    const int code = plait::launch<fails>(argc, argv);
    const auto text = log.text();
    expect(code == 1, "an exception gives 1 on every rank");
    expect(text == (first ? "plait: std::out_of_range: the reason\n" : ""),
           "it is reported once, in one line: " + text);
  }
  {
    plait_test::captured_stderr log;
    const int code = plait::launch<fails_in_lines>(argc, argv);
    const auto text = log.text();
    expect(code == 1 && text == (first ? "plait: std::out_of_range: two\\r\\nlines\\n\n" : ""),
           "a text of several lines is reported in one: " + text);
  }
  {
    plait_test::captured_stderr log;
    const int code = plait::launch<fails_strangely>(argc, argv);
    const auto text = log.text();
    expect(code != 0, "what is no std::exception is a failure too");
    expect(!first || text.find("own_error") != std::string::npos, "its type is named: " + text);
  }
  {
    plait_test::captured_stderr log;
    ::setenv("PLAIT_WORKERS", "some", 1);
    const int code = plait::launch<nothing>(argc, argv);
    ::unsetenv("PLAIT_WORKERS");
    const auto text = log.text();
    expect(code != 0, "an environment variable that can't be used is a failure");
    expect(text.find("PLAIT_WORKERS") != std::string::npos, "and named: " + text);
  }
  expect(plait::launch<seven>(argc, argv) == 7, "launch works after a failure");
  // Only one rank has a value that can't be used: nobody may wait for it for ever.
  for (const char* variable : {"PLAIT_WORKERS", "PLAIT_MPI", "PLAIT_STEALING", "PLAIT_STALL_WARN"}) {
    const bool has_mpi = plait::net::mpi_is_alive();
    if (!has_mpi && std::string(variable) == "PLAIT_MPI") continue;
    int size = 1;
    if (has_mpi) MPI_Comm_size(MPI_COMM_WORLD, &size);
    plait_test::captured_stderr log;
    if (plait_test::rank_in_environment() == 1) ::setenv(variable, "some", 1);
    const int code = plait::launch<nothing>(argc, argv);
    if (plait_test::rank_in_environment() == 1) ::unsetenv(variable);
    const auto text = log.text();
    expect((code != 0) == (size > 1), "a rank that can't start makes all fail");
    expect(size == 1 || (text.find(variable) != std::string::npos && text.find("'some'") != std::string::npos),
           "and all say why: " + text);
    expect(plait::launch<seven>(argc, argv) == 7, "launch works after that");
  }
}

}  // namespace launch_cases

int main(int argc, char** argv) {
  using namespace launch_cases;
  plait_test::start_clock("launch", __FILE__, __LINE__);
  const bool without_mpi = std::getenv("PLAIT_MPI") != nullptr && std::string(std::getenv("PLAIT_MPI")) == "0";
  if (without_mpi) {
    all(argc, argv);
    expect(!plait::net::mpi_is_alive(), "PLAIT_MPI=0 leaves MPI alone");
  } else {
    {
      const plait::environment keeps_mpi(argc, argv);
      all(argc, argv);
      expect(plait::net::mpi_is_alive(), "the environment keeps MPI alive");
    }
    expect(!plait::net::mpi_is_alive(), "its end finalises MPI");
    plait_test::captured_stderr log;
    const int code = plait::launch<nothing>(argc, argv);
    const auto text = log.text();
    expect(code != 0 && text.find("finalised") != std::string::npos,
           "a runtime after that is an error that says so: " + text);
  }
  plait_test::stop_clock();
  return failures == 0 ? 0 : 1;
}
