// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

namespace {

plait::task<> nothing() {
  spawn::count();
  co_return;
}

plait::task<> start(int tasks) {
  for (int i = 0; i < tasks; ++i) static_cast<void>(plait::spawn(nothing()));
  co_return;
}

}  // namespace

double spawn::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  return timed(n, [&](int tasks) { pool.run(start(tasks)); });  // waits for all
}
