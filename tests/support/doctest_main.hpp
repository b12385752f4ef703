// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <doctest/doctest.h>

namespace plait_test {

/// Runs doctest's cases with a time limit for each; the program's exit code.
int run_tests(int argc, char** argv);

/// This process's rank as the MPI launcher gave it, or -1 without one.
int rank_in_environment();

}  // namespace plait_test
