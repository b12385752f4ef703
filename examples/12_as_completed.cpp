// SPDX-License-Identifier: BSL-1.0
// Context style: the runtime lives in a scope of main, and each run is a stretch of tasks in an otherwise ordinary
// program. Inside, as_completed hands out the futures in the order in which they end, each once.
//
//   mpirun -n 4 ./12_as_completed
//
// expect: input 3 was answered first
// expect: every input was answered once, the sum is 150
#include <plait/plait.hpp>

#include <cstdio>
#include <optional>
#include <vector>

/// Answers after a while. yield lets the worker run its other tasks meanwhile.
plait::task<int> answer_after(int milliseconds) {
  const double end = plait::wtime() + milliseconds / 1000.0;
  while (plait::wtime() < end) co_await plait::yield();
  co_return milliseconds / 10;
}

plait::task<bool> in_order_of_completion() {
  const std::vector<int> delays = {600, 300, 450, 150};
  std::vector<plait::future<int>> answers;
  for (const int delay : delays) answers.push_back(plait::submit<answer_after>(delay));

  std::vector<int> times_seen(delays.size());
  int sum = 0;
  bool first = true;
  auto completed = plait::as_completed(answers);
  while (auto c = co_await plait::next(completed)) {
    if (first) std::printf("input %zu was answered first\n", c->index);
    first = false;
    ++times_seen[c->index];
    sum += c->future.result();
  }
  bool once = true;
  for (const int times : times_seen) once = once && times == 1;
  if (once) std::printf("every input was answered once, the sum is %d\n", sum);
  co_return once&& sum == 150;
}

int main(int argc, char** argv) {
  bool good = true;
  {
    plait::runtime rt{argc, argv};
    const std::optional<bool> answer = rt.run(in_order_of_completion());  // engaged on rank 0, the others serve
    if (rt.rank() == 0) good = answer.value_or(false);
  }  // all ranks leave together
  if (!good) std::fprintf(stderr, "wrong: some answer was missing or came twice\n");
  return good ? 0 : 1;
}
