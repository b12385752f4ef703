// SPDX-License-Identifier: BSL-1.0
// All solutions of the 13 queens, a task for each queen that can be placed. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "nqueens",
                         .sizes = {13},
                         .unit = "solution",
                         .units = [](int n) { return static_cast<double>(nqueens::answer(n)); },
                         .competitors = {{"serial", nqueens::run_serial, false},
                                         {"plait", nqueens::run_plait},
                                         {"onetbb", BENCH_ONETBB(nqueens::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(nqueens::run_openmp)}}},
                        argc, argv);
}
