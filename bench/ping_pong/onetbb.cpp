// SPDX-License-Identifier: BSL-1.0
#include "../support/processors.hpp"
#include "problem.hpp"

#include <oneapi/tbb/concurrent_queue.h>

#include <thread>

namespace {

long play(int n) {
  tbb::concurrent_bounded_queue<long> there;
  tbb::concurrent_bounded_queue<long> back;
  there.set_capacity(1);
  back.set_capacity(1);
  std::thread other([&] {
    for (int i = 0; i < n; ++i) {
      long ball = 0;
      there.pop(ball);
      back.push(ball + 1);
    }
  });
  long ball = 0;
  for (int i = 0; i < n; ++i) {
    there.push(ball);
    back.pop(ball);
  }
  other.join();
  return ball;
}

}  // namespace

double ping_pong::run_onetbb(int n, int workers) {
  bench::keep_to_processors(workers);
  play(1000);
  return bench::timed(static_cast<long>(n), [n] { return play(n); });
}
