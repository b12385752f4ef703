// SPDX-License-Identifier: BSL-1.0
// The program that README.md shows; tests/docs/check.py keeps the two the same.
//
//   mpirun -n 4 ./00_readme
//
// expect: 8 runs, the last one gave 32
// expect: one more gave 512
// docs: program
#include <plait/plait.hpp>

#include <cstdio>
#include <vector>

double simulate(double x) { return x * x / 2; }  // any function

plait::task<void> study() {
  const std::vector<double> inputs = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<double> energies = co_await plait::map<simulate>(inputs, {.chunk = 2});  // on all ranks, in order
  plait::future<double> more = plait::submit<simulate>(energies.back());                     // one task, on any rank
  std::printf("%zu runs, the last one gave %g\n", energies.size(), energies.back());
  std::printf("one more gave %g\n", co_await more);  // suspends study() until the result is there
}

int main(int argc, char** argv) { return plait::launch<study>(argc, argv); }
// docs: end
