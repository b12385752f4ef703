// SPDX-License-Identifier: BSL-1.0

#include "support/doctest_main.hpp"

int main(int argc, char** argv) { return plait_test::run_tests(argc, argv); }
