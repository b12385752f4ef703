// SPDX-License-Identifier: BSL-1.0
// The product of two matrices by quarters. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "matmul",
                         .sizes = {1024},
                         .unit = "flop",
                         .units = [](int n) { return 2.0 * n * n * n; },
                         .competitors = {{"serial", matmul::run_serial, false},
                                         {"plait", matmul::run_plait},
                                         {"onetbb", BENCH_ONETBB(matmul::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(matmul::run_openmp)}}},
                        argc, argv);
}
