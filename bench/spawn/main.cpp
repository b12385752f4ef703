// SPDX-License-Identifier: BSL-1.0
// 10^7 independent tasks that do nothing. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "spawn",
                         .sizes = {10'000'000},
                         .unit = "task",
                         .units = [](int n) { return static_cast<double>(n); },
                         .competitors = {{"serial", spawn::run_serial, false},
                                         {"plait", spawn::run_plait},
                                         {"onetbb", BENCH_ONETBB(spawn::run_onetbb)},
                                         {"onetbb_enqueue", BENCH_ONETBB(spawn::run_onetbb_enqueue)},
                                         {"openmp", BENCH_OPENMP(spawn::run_openmp)}}},
                        argc, argv);
}
