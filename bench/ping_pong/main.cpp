// SPDX-License-Identifier: BSL-1.0
// Round trips of a number between two tasks, or two threads, by queues with one place. Options: ../support/contest.hpp
#include "problem.hpp"

int main(int argc, char** argv) {
  return bench::contest({.name = "ping_pong",
                         .sizes = {100'000},
                         .unit = "trip",
                         .units = [](int n) { return static_cast<double>(n); },
                         .competitors = {{"plait", ping_pong::run_plait},
                                         {"threads", ping_pong::run_threads},
                                         {"onetbb", BENCH_ONETBB(ping_pong::run_onetbb)}}},
                        argc, argv);
}
