// SPDX-License-Identifier: BSL-1.0
// Context style: a pipeline of tasks that channels join. A producer sends numbers, three workers square them, and
// the consumer puts the squares in order. Where a stage is slow, the channel before it fills and those that send wait:
// tasks wait, no thread does, so one worker is enough.
//
//   ./15_channel
//
// expect: 1000 squares in 3 shares, the last one is 998001
// expect: their sum is 332833500
#include <plait/core.hpp>

#include <cstdio>
#include <utility>
#include <vector>

struct square {
  long number;
  long value;
  int by;
};

plait::task<void> produce(plait::channel<long>& numbers, long count) {
  for (long n = 0; n < count; ++n) {
    if (!co_await numbers.send(n)) co_return;  // nobody wants more
  }
  numbers.close();  // who receives gets what is left, and then nothing
}

plait::task<void> work(plait::channel<long>& numbers, plait::channel<square>& squares, int self) {
  while (const auto n = co_await numbers.receive()) {
    const square result{*n, *n * *n, self};
    if (!co_await squares.send(result)) co_return;
  }
}

plait::task<bool> pipeline() {
  constexpr long count = 1000;
  constexpr int workers = 3;
  plait::channel<long> numbers(16);
  plait::channel<square> squares(16);

  auto producer = co_await plait::fork(produce(numbers, count));  // forks: they end before the channels do
  auto stage = co_await plait::fork([&numbers, &squares]() -> plait::task<void> {
    std::vector<plait::task<void>> all;
    for (int i = 0; i < workers; ++i) all.push_back(work(numbers, squares, i));
    co_await plait::when_all(std::move(all));
    squares.close();  // by whoever knows that the last one has been sent
  });

  std::vector<long> in_order(count, -1);
  std::vector<long> share(workers, 0);
  while (const auto s = co_await squares.receive()) {
    in_order[static_cast<std::size_t>(s->number)] = s->value;
    ++share[static_cast<std::size_t>(s->by)];
  }
  co_await producer;
  co_await stage;

  long sum = 0;
  bool all_there = true;
  for (const long value : in_order) {
    all_there = all_there && value >= 0;
    sum += value;
  }
  long shares = 0;
  for (const long n : share) shares += n;
  if (all_there && shares == count)
    std::printf("%ld squares in %d shares, the last one is %ld\n", count, workers, in_order.back());
  std::printf("their sum is %ld\n", sum);
  co_return all_there&& sum == 332833500;
}

int main() {
  const bool good = plait::sync_wait(pipeline());
  if (!good) std::fprintf(stderr, "wrong: some square is missing\n");
  return good ? 0 : 1;
}
