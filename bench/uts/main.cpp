// SPDX-License-Identifier: BSL-1.0
// The published trees T1 and T3 of the Unbalanced Tree Search, a task a node. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "uts",
                         .sizes = {1, 3},
                         .unit = "node",
                         .units = [](int n) { return static_cast<double>(uts::tree::number(n).nodes); },
                         .competitors = {{"serial", uts::run_serial, false},
                                         {"plait", uts::run_plait},
                                         {"onetbb", BENCH_ONETBB(uts::run_onetbb)},
                                         {"openmp", BENCH_OPENMP(uts::run_openmp)}}},
                        argc, argv);
}
