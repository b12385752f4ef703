// SPDX-License-Identifier: BSL-1.0

// The cases of tests/dist, on ranks that MPI joins.

#include "../dist/callbacks_test.cpp"
#include "../dist/exceptions_test.cpp"
#include "../dist/map_test.cpp"
#include "../dist/placement_test.cpp"
#include "../dist/run_test.cpp"
#include "../dist/spmd_test.cpp"
#include "../dist/submit_test.cpp"
