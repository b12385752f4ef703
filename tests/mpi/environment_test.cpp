// SPDX-License-Identifier: BSL-1.0

// plait::environment where nobody else has initialised MPI: hence a main of its own.

#include <plait/net/mpi_transport.hpp>
#include <plait/plait.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

int failures = 0;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "environment_test: not so: %s\n", what);
  ++failures;
}

bool refused() {
  try {
    const plait::environment again;
  } catch (const plait::error& e) {
    return std::string(e.what()).find("finalised") != std::string::npos;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  expect(!plait::net::mpi_is_alive(), "MPI is untouched at the start");
  try {
    plait::net::communicator::duplicate(MPI_COMM_WORLD, "too early");
    expect(false, "a communicator before MPI is refused");
  } catch (const plait::error&) {
  }

  {
    ::setenv("PLAIT_MPI", "0", 1);
    const plait::environment none(argc, argv);
    plait::runtime alone(argc, argv);
    expect(alone.size() == 1 && alone.run([]() -> plait::task<void> { co_return; }), "PLAIT_MPI=0 runs as one rank");
    expect(none.thread_level() == plait::thread_level::multiple, "where any thread may do anything");
    expect(!plait::net::mpi_is_alive(), "and initialises nothing");
    ::unsetenv("PLAIT_MPI");
  }

  auto outlives_mpi = plait::net::communicator();
  {
    const plait::environment outer(argc, argv);
    expect(plait::net::mpi_is_alive(), "an environment initialises MPI");
    expect(outer.thread_level() == plait::thread_level::multiple, "it asks for MULTIPLE and gets it");
    for (int round = 0; round < 3; ++round) {
      const plait::environment inner;
      plait::net::mpi_transport transport(plait::net::communicator::duplicate(MPI_COMM_WORLD, "plait"));
      transport.barrier();
    }
    expect(plait::net::mpi_is_alive(), "the end of an inner environment leaves MPI alive");
    outlives_mpi = plait::net::communicator::duplicate(MPI_COMM_WORLD, "outlives MPI");
  }
  expect(!plait::net::mpi_is_alive(), "the end of the last environment finalises MPI");
  expect(refused(), "an environment after that is a plait::error");
  expect(refused(), "and again");
  return failures == 0 ? 0 : 1;
}
