// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

int where() { return plait::rank(); }

plait::task<remote_task::samples> round_trips(int count, std::chrono::milliseconds pause) {
  remote_task::samples times;
  times.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);  // this rank's only worker, so nothing runs anywhere
    const double start = bench::seconds();
    plait::future<int> answer = plait::submit<where>(plait::on_rank(1));
    const int rank = co_await answer;
    times.push_back((bench::seconds() - start) * 1e6);
    if (rank != 1) throw std::runtime_error("plait: a task for rank 1 ran on another rank");
  }
  co_return times;
}

}  // namespace

remote_task::samples remote_task::run_plait(plait::runtime& rt, int count) {
  return run_plait_after_idleness(rt, count, std::chrono::milliseconds(0));
}

remote_task::samples remote_task::run_plait_after_idleness(plait::runtime& rt, int count,
                                                           std::chrono::milliseconds pause) {
  std::optional<samples> times = rt.run([&] { return round_trips(count, pause); });
  return times ? std::move(*times) : samples();
}
