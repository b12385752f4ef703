// SPDX-License-Identifier: BSL-1.0
// Numbers in random order, sorted. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "parallel_sort",
                         .sizes = {10'000'000},
                         .unit = "element",
                         .units = [](int n) { return static_cast<double>(n); },
                         .competitors = {{"serial", parallel_sort::run_serial, false},
                                         {"plait", parallel_sort::run_plait},
                                         {"onetbb", BENCH_ONETBB(parallel_sort::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(parallel_sort::run_openmp)}}},
                        argc, argv);
}
