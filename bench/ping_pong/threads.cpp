// SPDX-License-Identifier: BSL-1.0
#include "../support/processors.hpp"
#include "problem.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace {

/// A queue with one place.
class place {
 public:
  void put(long value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !value_; });
    value_ = value;
    changed_.notify_one();
  }
  long take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return value_.has_value(); });
    const long value = *std::exchange(value_, std::nullopt);
    changed_.notify_one();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<long> value_;
};

long play(int n) {
  place there;
  place back;
  std::thread other([&] {
    for (int i = 0; i < n; ++i) back.put(there.take() + 1);
  });
  long ball = 0;
  for (int i = 0; i < n; ++i) {
    there.put(ball);
    ball = back.take();
  }
  other.join();
  return ball;
}

}  // namespace

double ping_pong::run_threads(int n, int workers) {
  bench::keep_to_processors(workers);
  play(1000);
  return bench::timed(static_cast<long>(n), [n] { return play(n); });
}
