// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace {

int add_rank(int x) { return x + plait::rank(); }

plait::task<double> send_tasks(int count, int window) {
  std::vector<plait::future<int>> answers;
  answers.reserve(static_cast<std::size_t>(window));
  long sum = 0;
  const double start = bench::seconds();
  for (int sent = 0; sent < count; sent += window) {
    const int now = std::min(window, count - sent);
    for (int i = 0; i < now; ++i) answers.push_back(plait::submit<add_rank>(plait::on_rank(1), sent + i));
    for (plait::future<int>& answer : answers) sum += co_await answer;
    answers.clear();
  }
  const double elapsed = bench::seconds() - start;
  if (sum != static_cast<long>(count) * (count + 1) / 2) throw std::runtime_error("plait: wrong results from rank 1");
  co_return elapsed;
}

}  // namespace

double task_rate::run_plait(plait::runtime& rt, int count, int window) {
  return rt.run([=] { return send_tasks(count, window); }).value_or(0);
}
