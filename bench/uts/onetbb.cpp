// SPDX-License-Identifier: BSL-1.0
#include "../support/onetbb.hpp"
#include "problem.hpp"

#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <vector>

namespace {

using uts::node;
using uts::tree;

long count(const node& parent, const tree& t) {
  const int children = parent.children(t);
  long nodes = 1;
  if (children == 0) return nodes;
  std::vector<long> parts(static_cast<std::size_t>(children));
  tbb::task_group group;
  for (int i = 0; i < children; ++i) {
    group.run([&part = parts[static_cast<std::size_t>(i)], &parent, &t, i] { part = count(node(parent, i), t); });
  }
  group.wait();
  for (const long part : parts) nodes += part;
  return nodes;
}

}  // namespace

double uts::run_onetbb(int n, int workers) {
  const tree& t = tree::number(n);
  return bench::in_arena(workers, [&] {
    tbb::task_group group;
    group.run([] {});
    group.wait();
    return bench::timed(t.nodes, [&] { return count(node(t), t); });
  });
}
