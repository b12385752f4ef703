// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace {

using uts::node;
using uts::tree;

long count(const node& parent, const tree& t) {
  const int children = parent.children(t);
  long nodes = 1;
  for (int i = 0; i < children; ++i) nodes += count(node(parent, i), t);
  return nodes;
}

}  // namespace

double uts::run_serial(int n, int) {
  const tree& t = tree::number(n);
  return bench::timed(t.nodes, [&] { return count(node(t), t); });
}
