// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <random>
#include <stdexcept>

void matmul::multiply_leaf(const product& p) {
  for (int i = 0; i < p.side; ++i) {
    double* __restrict__ c = p.c + static_cast<std::ptrdiff_t>(i) * p.stride;
    for (int k = 0; k < p.side; ++k) {
      const double factor = p.a[static_cast<std::ptrdiff_t>(i) * p.stride + k];
      const double* __restrict__ b = p.b + static_cast<std::ptrdiff_t>(k) * p.stride;
      for (int j = 0; j < p.side; ++j) c[j] += factor * b[j];
    }
  }
}

namespace {

std::vector<double> times(const std::vector<double>& matrix, const std::vector<double>& x) {
  const std::size_t n = x.size();
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) y[i] += matrix[i * n + j] * x[j];
  }
  return y;
}

}  // namespace

matmul::matrices::matrices(int n) : n_(n) {
  if (n < leaf || (n & (n - 1)) != 0) throw std::runtime_error("n must be a power of two, 64 or more");
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  std::mt19937 random(1);
  for (auto* m : {&a_, &b_}) {
    m->resize(size);
    for (double& x : *m) x = static_cast<double>(random() % 16) - 8;
  }
  c_.resize(size);
}

/// A wrong C has C x = A (B x) with at most half the probability, for each random x of ones and minus ones
/// (Freivalds 1977).
void matmul::matrices::check() const {
  std::mt19937 random(2);
  for (int trial = 0; trial < 8; ++trial) {
    std::vector<double> x(static_cast<std::size_t>(n_));
    for (double& element : x) element = random() % 2 == 0 ? 1 : -1;
    if (times(c_, x) != times(a_, times(b_, x))) throw std::runtime_error("the product is wrong");
  }
}
