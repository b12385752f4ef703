// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../support/contest.hpp"

#include <cstddef>
#include <vector>

/// C = A B by quarters: each quarter of C is the sum of two products of quarters, which are four tasks, and then four
/// more. Few tasks with much work in each: what matters is that no worker is idle, and who finds what in its cache.
namespace matmul {

double run_serial(int n, int workers);
double run_plait(int n, int workers);
double run_onetbb(int n, int workers);
double run_openmp(int n, int workers);

/// The side of the parts that one task multiplies.
inline constexpr int leaf = 64;

/// Three parts, square and equally large, of matrices whose rows are `stride` apart.
struct product {
  const double* a;
  const double* b;
  double* c;
  int side;
  int stride;

  /// One of the two products, number 0 or 1, whose sum is the quarter of C in that row and column.
  product quarter(int row, int column, int number) const {
    const int half = side / 2;
    const auto at = [&](int down, int right) {
      return static_cast<std::ptrdiff_t>(down * half) * stride + right * half;
    };
    return {a + at(row, number), b + at(number, column), c + at(row, column), half, stride};
  }
};

/// C += A B without tasks: the same code for all.
void multiply_leaf(const product& p);

/// A and B of small whole numbers, so that each sum is exact, and a C of zeros.
class matrices {
 public:
  /// n: a power of two, at least `leaf`.
  explicit matrices(int n);
  product whole() { return {a_.data(), b_.data(), c_.data(), n_, n_}; }

  /// Times `multiply(whole())`, after which C must be the product.
  template <class Multiply>
  double timed(Multiply&& multiply) {
    const double start = bench::seconds();
    multiply(whole());
    const double elapsed = bench::seconds() - start;
    check();
    return elapsed;
  }

 private:
  void check() const;

  int n_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
};

}  // namespace matmul
