// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>

namespace uts {

/// One of the published trees.
struct tree {
  enum class shape { geometric, binomial };
  shape kind;
  double root_children;  ///< geometric: the mean of every node above the depth, too
  int depth;             ///< geometric: nodes of this depth have no children
  double probability;    ///< binomial: that a node below the root has children
  int children;          ///< binomial: how many it then has
  std::uint32_t seed;
  long nodes;  ///< how many there are

  /// T1 is geometric with a fixed branching factor, T3 binomial. Throws where there is no such number here.
  static const tree& number(int n);
};

/// A node is 20 bytes, from which follows how many children it has; each child's are the SHA-1 of the parent's and
/// the child's index.
class node {
 public:
  /// The root.
  explicit node(const tree& t);
  /// The child with this index.
  node(const node& parent, int index);

  int children(const tree& t) const;

 private:
  /// Uniform in [0, 1), 31 bits of it.
  double uniform() const;

  std::array<std::uint32_t, 5> state_;
  int height_;
};

}  // namespace uts
