// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// A loop over many iterations of about a nanosecond each: what matters is that the loop stays what it is without
/// tasks, and that the workers end together.
namespace parallel_for {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

/// One iteration: a byte that depends on all bits of i (the last steps of SplitMix64, Steele, Lea, Flood 2014).
inline std::uint8_t mixed(std::uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint8_t>(i ^ (i >> 31));
}

/// A byte an iteration.
class cells {
 public:
  explicit cells(int n) : bytes_(static_cast<std::size_t>(n)) {}

  /// Times `fill(bytes, n)`, after which byte i must be mixed(i).
  template <class Fill>
  double timed(Fill&& fill) {
    const double start = bench::seconds();
    fill(bytes_.data(), bytes_.size());
    const double elapsed = bench::seconds() - start;
    check();
    return elapsed;
  }

 private:
  void check() const;

  std::vector<std::uint8_t> bytes_;
};

}  // namespace parallel_for
