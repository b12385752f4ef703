// SPDX-License-Identifier: BSL-1.0
// A loop of cheap iterations. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "parallel_for",
                         .sizes = {100'000'000},
                         .unit = "iteration",
                         .units = [](int n) { return static_cast<double>(n); },
                         .competitors = {{"serial", parallel_for::run_serial, false},
                                         {"plait", parallel_for::run_plait},
                                         {"onetbb", BENCH_ONETBB(parallel_for::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(parallel_for::run_openmp)}}},
                        argc, argv);
}
