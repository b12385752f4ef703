// SPDX-License-Identifier: BSL-1.0
#include "thread_level_cases.hpp"

int main(int argc, char** argv) { return thread_level_cases::run_with_level(MPI_THREAD_FUNNELED, argc, argv); }
