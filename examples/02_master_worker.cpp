// SPDX-License-Identifier: BSL-1.0
// Master and workers: rank 0 runs the main task and submits pieces of an integral; every rank, rank 0 too, takes pieces
// as it has time, and the master adds the results. There is no loop of messages to write and no rank to choose.
//
//   mpirun -n 4 ./02_master_worker
//
// expect: pi = 3\.14159265
// expect: rank 0 integrated [0-9]+ slices
// expect on 4: rank 3 integrated [0-9]+ slices
// expect: 48 slices in all
#include <plait/plait.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

/// The answer of a worker. A trivially copyable struct travels between ranks as it is.
struct piece {
  double area;
  int rank;
};

/// Integrates 4 / (1 + x^2) from `from` to `to` by the midpoint rule, and says where that was done.
piece integrate(double from, double to) {
  const int steps = 1'000'000;
  const double width = (to - from) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    const double x = from + (i + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  return {sum * width, plait::rank()};
}

plait::task<int> master() {
  const int slices = 48;
  std::vector<plait::future<piece>> answers;
  for (int i = 0; i < slices; ++i) {
    answers.push_back(plait::submit<integrate>(static_cast<double>(i) / slices, static_cast<double>(i + 1) / slices));
  }

  double pi = 0;
  std::vector<int> done(static_cast<std::size_t>(plait::size()));
  for (plait::future<piece>& answer : answers) {
    const piece p = co_await answer;
    pi += p.area;
    ++done.at(static_cast<std::size_t>(p.rank));
  }

  std::printf("pi = %.8f\n", pi);
  int total = 0;
  for (int r = 0; r < plait::size(); ++r) {
    std::printf("rank %d integrated %d slices\n", r, done[static_cast<std::size_t>(r)]);
    total += done[static_cast<std::size_t>(r)];
  }
  std::printf("%d slices in all\n", total);
  if (std::abs(pi - 3.14159265358979) < 1e-9 && total == slices) co_return 0;
  std::fprintf(stderr, "wrong: the sum should be pi, from %d slices\n", slices);
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<master>(argc, argv); }
