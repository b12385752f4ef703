// SPDX-License-Identifier: BSL-1.0
// CMA-ES, an optimiser that learns the shape of the function from samples (N. Hansen, "The CMA Evolution Strategy: A
// Tutorial", arXiv:1604.00772), minimises the 10-dimensional Rosenbrock function. The evaluations of each generation
// are tasks on all ranks; the small linear algebra stays with the main task. Eigen decomposes the covariance matrix.
//
//   mpirun -n 4 ./10_cma_es [seed]
//
// expect: below 1e-8 after [0-9]+ generations of 12 evaluations
// expect: the minimum is at 1\.000 1\.000 1\.000 1\.000 1\.000 1\.000 1\.000 1\.000 1\.000 1\.000
#include <plait/plait.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

constexpr int dimension = 10;
using point = std::array<double, dimension>;

/// The task: a long curved valley, with the value 0 at (1, ..., 1).
double rosenbrock(const point& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double along = 1 - x[i];
    const double across = x[i + 1] - x[i] * x[i];
    sum += along * along + 100 * across * across;
  }
  return sum;
}

/// The search distribution: normal with mean m, step size sigma and covariance sigma^2 C. ask() samples a generation,
/// tell() moves the distribution towards its better half. The letters are those of the tutorial.
/// Eigen's matrices are of dynamic size here, since coroutine frames do not honour the alignment of large fixed ones.
class cma_es {
 public:
  cma_es(double start, double sigma, int lambda, unsigned seed) : lambda_(lambda), sigma_(sigma), random_(seed) {
    mean_ = Eigen::VectorXd::Constant(dimension, start);
    const int mu = lambda / 2;
    weights_.resize(mu);
    for (int i = 0; i < mu; ++i) weights_[i] = std::log((lambda + 1) / 2.0) - std::log(i + 1.0);
    weights_ /= weights_.sum();
    mu_eff_ = 1 / weights_.squaredNorm();

    const double n = dimension;
    c_sigma_ = (mu_eff_ + 2) / (n + mu_eff_ + 5);
    d_sigma_ = 1 + c_sigma_ + 2 * std::max(0.0, std::sqrt((mu_eff_ - 1) / (n + 1)) - 1);
    c_c_ = (4 + mu_eff_ / n) / (n + 4 + 2 * mu_eff_ / n);
    c_1_ = 2 / ((n + 1.3) * (n + 1.3) + mu_eff_);
    c_mu_ = std::min(1 - c_1_, 2 * (mu_eff_ - 2 + 1 / mu_eff_) / ((n + 2) * (n + 2) + mu_eff_));
    expected_norm_ = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  }

  std::vector<point> ask() {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance_);
    axes_ = eigen.eigenvectors();
    lengths_ = eigen.eigenvalues().cwiseMax(1e-20).cwiseSqrt();
    steps_.resize(dimension, lambda_);
    std::vector<point> points(static_cast<std::size_t>(lambda_));
    for (int k = 0; k < lambda_; ++k) {
      Eigen::VectorXd z(dimension);
      for (double& coordinate : z) coordinate = normal_(random_);
      steps_.col(k) = axes_ * lengths_.cwiseProduct(z);
      const Eigen::VectorXd x = mean_ + sigma_ * steps_.col(k);
      std::copy(x.begin(), x.end(), points[static_cast<std::size_t>(k)].begin());
    }
    return points;
  }

  void tell(const std::vector<double>& values) {
    ++generation_;
    std::vector<int> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto value = [&](int k) { return values[static_cast<std::size_t>(k)]; };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });

    Eigen::VectorXd step = Eigen::VectorXd::Zero(dimension);
    Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(dimension, dimension);
    for (int i = 0; i < static_cast<int>(weights_.size()); ++i) {
      const Eigen::VectorXd y = steps_.col(order[static_cast<std::size_t>(i)]);
      step += weights_[i] * y;
      spread += weights_[i] * y * y.transpose();
    }
    mean_ += sigma_ * step;

    // The step size grows while steps of successive generations agree, and shrinks while they cancel.
    const Eigen::VectorXd whitened = axes_ * (axes_.transpose() * step).cwiseQuotient(lengths_);
    path_sigma_ = (1 - c_sigma_) * path_sigma_ + std::sqrt(c_sigma_ * (2 - c_sigma_) * mu_eff_) * whitened;
    const double settled = 1 - std::pow(1 - c_sigma_, 2 * generation_);
    const bool steady = path_sigma_.norm() / std::sqrt(settled) < (1.4 + 2.0 / (dimension + 1)) * expected_norm_;
    sigma_ *= std::exp(c_sigma_ / d_sigma_ * (path_sigma_.norm() / expected_norm_ - 1));

    // The covariance learns from the path of the mean (rank one) and from the better half (rank mu).
    path_c_ = (1 - c_c_) * path_c_;
    if (steady) path_c_ += std::sqrt(c_c_ * (2 - c_c_) * mu_eff_) * step;
    const double keep = 1 - c_1_ - c_mu_ + (steady ? 0 : c_1_ * c_c_ * (2 - c_c_));
    covariance_ = keep * covariance_ + c_1_ * path_c_ * path_c_.transpose() + c_mu_ * spread;
  }

 private:
  int lambda_;
  int generation_ = 0;
  double sigma_, mu_eff_ = 0, c_sigma_ = 0, d_sigma_ = 0, c_c_ = 0, c_1_ = 0, c_mu_ = 0, expected_norm_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  Eigen::VectorXd mean_, weights_, lengths_;
  Eigen::VectorXd path_sigma_ = Eigen::VectorXd::Zero(dimension);
  Eigen::VectorXd path_c_ = Eigen::VectorXd::Zero(dimension);
  Eigen::MatrixXd covariance_ = Eigen::MatrixXd::Identity(dimension, dimension);
  Eigen::MatrixXd axes_, steps_;
};

plait::task<int> optimise(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int lambda = 12;
  cma_es search(0.0, 0.3, lambda, seed);
  double best = HUGE_VAL;
  point where{};
  int generations = 0;
  for (; best >= 1e-8 && generations < 3000; ++generations) {
    const std::vector<point> points = search.ask();
    const std::vector<double> values = co_await plait::map<rosenbrock>(points);
    const auto lowest = std::min_element(values.begin(), values.end());
    if (*lowest < best) {
      best = *lowest;
      where = points[static_cast<std::size_t>(lowest - values.begin())];
    }
    search.tell(values);
  }

  if (best >= 1e-8) {
    std::fprintf(stderr, "wrong: the best value after %d generations is %g\n", generations, best);
    co_return 1;
  }
  std::printf("below 1e-8 after %d generations of %d evaluations\n", generations, lambda);
  std::printf("the minimum is at");
  for (const double x : where) std::printf(" %.3f", x);
  std::printf("\n");
  co_return 0;
}

int main(int argc, char** argv) { return plait::launch<optimise>(argc, argv); }
