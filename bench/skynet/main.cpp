// SPDX-License-Identifier: BSL-1.0
// A tree of tasks with 10^6 leaves, ten below each. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "skynet",
                         .sizes = {1'000'000},
                         .unit = "task",
                         .units = skynet::tasks,
                         .competitors = {{"serial", skynet::run_serial, false},
                                         {"plait", skynet::run_plait},
                                         {"onetbb", BENCH_ONETBB(skynet::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(skynet::run_openmp)}}},
                        argc, argv);
}
