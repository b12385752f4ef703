// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

namespace {

using matmul::product;

plait::task<> multiply(product p) {
  if (p.side <= matmul::leaf) {
    multiply_leaf(p);
    co_return;
  }
  for (int number = 0; number < 2; ++number) {
    plait::future<> a = co_await plait::fork(multiply(p.quarter(0, 0, number)));
    plait::future<> b = co_await plait::fork(multiply(p.quarter(0, 1, number)));
    plait::future<> c = co_await plait::fork(multiply(p.quarter(1, 0, number)));
    co_await multiply(p.quarter(1, 1, number));
    co_await a;
    co_await b;
    co_await c;
  }
}

}  // namespace

double matmul::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  matrices small(128);
  pool.run(multiply(small.whole()));  // threads and frames exist from here on
  return matrices(n).timed([&](const product& p) { pool.run(multiply(p)); });
}
