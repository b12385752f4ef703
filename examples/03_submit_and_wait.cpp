// SPDX-License-Identifier: BSL-1.0
// Ways to submit one task: functions, lambdas, placement, and what happens to an exception. submit gives a future at
// once; co_await takes its result, wait_children waits for all that this task started.
//
//   mpirun -n 4 ./03_submit_and_wait
//
// expect: mean = 2\.5
// expect: twice 21 is 42, the cube of 3 is 27
// expect: the last rank is [0-9]+
// expect: caught std::out_of_range
// expect: all 8 cubes are done, their sum is 784
#include <plait/plait.hpp>

#include <cstdio>
#include <stdexcept>
#include <vector>

double mean(std::vector<double> values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

int own_rank() { return plait::rank(); }

double element(const std::vector<double>& values, std::size_t index) {
  return values.at(index);  // throws std::out_of_range
}

long cube(long x) { return x * x * x; }

plait::task<int> program() {
  const std::vector<double> values = {1, 2, 3, 4};
  plait::future<double> m = plait::submit<mean>(values);  // on any rank
  const double average = co_await m;
  std::printf("mean = %g\n", average);

  plait::future<int> twice = plait::submit([](int x) { return 2 * x; }, 21);
  plait::future<long> third = plait::submit<cube>(3);  // arguments are converted as in a call
  const int a = co_await twice;
  const long b = co_await third;
  std::printf("twice 21 is %d, the cube of 3 is %ld\n", a, b);

  plait::future<int> there = plait::submit<own_rank>(plait::on_rank(plait::size() - 1));  // there and nowhere else
  const int last = co_await there;
  std::printf("the last rank is %d\n", last);

  bool caught = false;
  plait::future<double> bad = plait::submit<element>(plait::on_rank(plait::size() - 1), values, 7);
  try {
    co_await bad;
  } catch (const std::out_of_range&) {  // standard exceptions keep their type on the way
    caught = true;
    std::printf("caught std::out_of_range\n");
  }

  std::vector<plait::future<long>> cubes;
  for (long x = 0; x < 8; ++x) cubes.push_back(plait::submit<cube>(plait::cyclic, x));
  co_await plait::wait_children();
  long sum = 0;
  for (const plait::future<long>& c : cubes) sum += c.result();  // done, so it can be read without waiting
  std::printf("all %zu cubes are done, their sum is %ld\n", cubes.size(), sum);

  if (average == 2.5 && a == 42 && b == 27 && last == plait::size() - 1 && caught && sum == 784) co_return 0;
  std::fprintf(stderr, "wrong: see the values above\n");
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
