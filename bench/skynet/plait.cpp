// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

#include <array>
#include <cstddef>

namespace {

using skynet::width;

plait::task<long> node(long first, long leaves) {
  if (leaves == 1) co_return first;
  const long part = leaves / width;
  std::array<plait::future<long>, width> children;
  for (std::size_t i = 0; i < width; ++i) {
    children[i] = co_await plait::fork(node(first + static_cast<long>(i) * part, part));
  }
  long sum = 0;
  for (auto& child : children) sum += co_await child;
  co_return sum;
}

}  // namespace

double skynet::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  pool.run(node(0, 1000));  // threads and frames exist from here on
  return bench::timed(answer(n), [&] { return pool.run(node(0, n)); });
}
