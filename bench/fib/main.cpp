// SPDX-License-Identifier: BSL-1.0
// fib(36) with a task at each level. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "fib",
                         .sizes = {36},
                         .unit = "call",
                         .units = fib::calls,
                         .competitors = {{"serial", fib::run_serial, false},
                                         {"plait", fib::run_plait},
                                         {"onetbb", BENCH_ONETBB(fib::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(fib::run_openmp)}}},
                        argc, argv);
}
