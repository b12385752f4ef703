// SPDX-License-Identifier: BSL-1.0
// expect-success

// What the files beside this one do wrong, done right.
#include <plait/plait.hpp>

#include <string>
#include <vector>

int add(int a, int b) { return a + b; }
int increment(const int& n) { return n + 1; }
double sum(const std::vector<double>& values) { return values.empty() ? 0 : values[0]; }
std::string name() { return "name"; }

plait::task<int> root(int k) {
  co_await plait::submit([](int n, int factor) { return n * factor; }, 3, k);
  co_await plait::submit(plait::by_value([k](int n) { return n * k; }), 3);
  co_await plait::submit<increment>(k);
  co_await plait::submit<add>(plait::here, 1, 2);
  co_await plait::submit<sum>(std::vector<double>(3));
  co_await plait::submit<name>();
  std::vector<int> numbers(3);
  co_await plait::map<add>(plait::map_options{.chunk = 2}, numbers, numbers);
  co_await plait::spmd([](int n) { return n; }, k);
  co_return 0;
}

plait::task<int> main_task() { return root(1); }

int main(int argc, char** argv) { return plait::launch<main_task>(argc, argv); }
