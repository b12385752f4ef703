// SPDX-License-Identifier: BSL-1.0
// A reduction without a loop over futures: each task's callback adds its result to the sum, on the rank that submitted
// the task, in whatever order the results arrive.
//
//   mpirun -n 4 ./08_callback_reduction
//
// expect: 0\^2 \+ \.\.\. \+ 9\^2 = 285
#include <plait/plait.hpp>

#include <atomic>
#include <cstdio>

int square(int x) { return x * x; }

plait::task<int> program() {
  std::atomic<int> sum = 0;
  for (int x = 0; x < 10; ++x) {
    plait::submit<square>(x).add_done_callback([&sum](const plait::future<int>& f) { sum += f.result(); });
  }
  co_await plait::wait_children();  // the tasks have ended, and so have their callbacks: sum is complete
  std::printf("0^2 + ... + 9^2 = %d\n", sum.load());
  if (sum == 285) co_return 0;
  std::fprintf(stderr, "wrong: the sum is 285\n");
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
