// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

#include <cstddef>
#include <vector>

namespace {

using uts::node;
using uts::tree;

plait::task<long> count(node parent, const tree& t) {
  const int children = parent.children(t);
  long nodes = 1;
  if (children == 0) co_return nodes;
  std::vector<plait::future<long>> parts(static_cast<std::size_t>(children));
  for (int i = 0; i < children; ++i) {
    parts[static_cast<std::size_t>(i)] = co_await plait::fork(count(node(parent, i), t));
  }
  for (auto& part : parts) nodes += co_await part;
  co_return nodes;
}

plait::task<long> nothing() { co_return 0; }

}  // namespace

double uts::run_plait(int n, int workers) {
  const tree& t = tree::number(n);
  plait::pool pool({.workers = workers});
  pool.run(nothing());  // threads exist from here on
  return bench::timed(t.nodes, [&] { return pool.run(count(node(t), t)); });
}
