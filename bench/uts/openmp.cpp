// SPDX-License-Identifier: BSL-1.0
#include "../support/openmp.hpp"
#include "problem.hpp"

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
  for (int i = 0; i < children; ++i) {
    long* part = &parts[static_cast<std::size_t>(i)];
#pragma omp task shared(parent, t) firstprivate(part, i) default(none)
    *part = count(node(parent, i), t);
  }
#pragma omp taskwait
  for (const long part : parts) nodes += part;
  return nodes;
}

}  // namespace

double uts::run_openmp(int n, int workers) {
  const tree& t = tree::number(n);
  return bench::in_team(workers, [&] { return bench::timed(t.nodes, [&] { return count(node(t), t); }); });
}
