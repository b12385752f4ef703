// SPDX-License-Identifier: BSL-1.0
// Callbacks: a function registered with a future runs once when the task has ended, with a value or with an exception,
// on the thread that completes it. The future itself need not be kept. wait_children returns after the callbacks.
//
//   mpirun -n 4 ./05_callbacks
//
// expect: 5 numbers with the sum 115
// expect: 2 words that are no numbers
// expect: a callback on a finished task runs at once
#include <plait/plait.hpp>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

int parse(const std::string& text) {
  return std::stoi(text);  // throws std::invalid_argument
}

plait::task<int> program() {
  // Several workers may complete tasks at once, so what callbacks share is atomic.
  std::atomic<int> sum = 0;
  std::atomic<int> numbers = 0;
  std::atomic<int> failures = 0;
  const auto count = [&](const plait::future<int>& parsed) {
    if (parsed.exception()) {
      ++failures;
    } else {
      ++numbers;
      sum += parsed.result();
    }
  };

  const std::vector<std::string> texts = {"3", "14", "fifteen", "92", "6", "pi", "0"};
  for (const std::string& text : texts) plait::submit<parse>(text).add_done_callback(count);
  co_await plait::wait_children();
  std::printf("%d numbers with the sum %d\n", numbers.load(), sum.load());
  std::printf("%d words that are no numbers\n", failures.load());

  plait::future<int> finished = plait::submit<parse>(std::string("7"));
  co_await plait::wait_children();
  bool ran = false;
  finished.add_done_callback([&ran](const plait::future<int>&) { ran = true; });
  if (ran) std::printf("a callback on a finished task runs at once\n");

  if (sum == 115 && numbers == 5 && failures == 2 && ran) co_return 0;
  std::fprintf(stderr, "wrong: see the values above\n");
  co_return 1;
}

int main(int argc, char** argv) { return plait::launch<program>(argc, argv); }
