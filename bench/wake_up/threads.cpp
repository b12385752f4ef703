// SPDX-License-Identifier: BSL-1.0
#include "../support/statistics.hpp"
#include "problem.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

/// What both kinds of thread tell when they have run.
class moment {
 public:
  void set(double when) {
    when_ = when;
    ran_.store(true);
    ran_.notify_one();
  }
  double take() {
    ran_.wait(false);
    ran_.store(false);
    return when_;
  }

 private:
  double when_ = 0;
  std::atomic<bool> ran_{false};
};

/// Lets `use` post to the thread, by tell(1), and ends it by tell(-1).
template <class Tell>
void post_to(std::thread& worker, const Tell& tell, moment& ran, const std::function<void(const wake_up::post&)>& use) {
  use([&] {
    tell(1);
    return ran.take();
  });
  tell(-1);
  worker.join();
}

}  // namespace

void wake_up::with_condition_variable(int, const std::function<void(const post&)>& use) {
  std::mutex mutex;
  std::condition_variable changed;
  int posted = 0;  // -1: end
  moment ran;
  const auto tell = [&](int what) {
    const std::lock_guard lock(mutex);
    posted = what;
    changed.notify_one();
  };
  std::thread worker([&] {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return posted != 0; });
      if (posted < 0) return;
      posted = 0;
      lock.unlock();
      ran.set(bench::seconds());
    }
  });
  post_to(worker, tell, ran, use);
}

void wake_up::with_atomic_wait(int, const std::function<void(const post&)>& use) {
  std::atomic<int> posted{0};  // -1: end
  moment ran;
  const auto tell = [&](int what) {
    posted.store(what);
    posted.notify_one();
  };
  std::thread worker([&] {
    for (;;) {
      posted.wait(0);
      if (posted.exchange(0) < 0) return;
      ran.set(bench::seconds());
    }
  });
  post_to(worker, tell, ran, use);
}
