// SPDX-License-Identifier: BSL-1.0

// The main of the tests under mpirun: MPI stays alive over all cases, each of which makes runtimes as it likes.
// A test that wants MPI untouched defines its own main.

#include <mpi.h>

#include <cstdlib>
#include <string_view>

#include "../support/doctest_main.hpp"
#include "../support/waiting.hpp"

int main(int argc, char** argv) {
  const char* setting = std::getenv("PLAIT_MPI");
  const bool with_mpi = setting == nullptr || std::string_view(setting) != "0";
  if (with_mpi) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  }
  const int code = plait_test::run_tests(argc, argv);
  int finalized = 0;
  if (with_mpi) MPI_Finalized(&finalized);
  if (with_mpi && finalized == 0) {
    plait_test::start_clock("MPI_Finalize", __FILE__, __LINE__);
    MPI_Finalize();
    plait_test::stop_clock();
  }
  return code;
}
