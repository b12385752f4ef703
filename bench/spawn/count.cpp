// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace {

struct alignas(64) counter {
  std::atomic<long> value{0};
};

constexpr std::size_t most_threads = 256;
std::array<counter, most_threads> counters;
std::atomic<std::size_t> threads{0};

}  // namespace

void spawn::count() {
  thread_local std::atomic<long>& mine = counters[threads.fetch_add(1) % most_threads].value;
  mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // the wait orders them
}

long spawn::counted() {
  long sum = 0;
  for (counter& c : counters) sum += c.value.exchange(0);
  return sum;
}
