// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <plait/core.hpp>

#include <optional>

namespace {

struct table {
  plait::channel<long> there{1};
  plait::channel<long> back{1};
};

plait::task<> answer(table& t) {
  for (;;) {
    const std::optional<long> ball = co_await t.there.receive();
    if (!ball) co_return;
    const bool sent = co_await t.back.send(*ball + 1);
    if (!sent) co_return;
  }
}

plait::task<long> play(int n) {
  table t;
  plait::future<void> other = co_await plait::fork(answer(t));
  long ball = 0;
  for (int i = 0; i < n; ++i) {
    const bool sent = co_await t.there.send(ball);
    const std::optional<long> returned = co_await t.back.receive();
    if (!sent || !returned) co_return -1;
    ball = *returned;
  }
  t.there.close();
  co_await other;
  co_return ball;
}

}  // namespace

double ping_pong::run_plait(int n, int workers) {
  plait::pool pool({.workers = workers});
  pool.run(play(1000));
  return bench::timed(static_cast<long>(n), [&] { return pool.run(play(n)); });
}
