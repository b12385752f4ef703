// SPDX-License-Identifier: BSL-1.0
#pragma once

// What every test needs to wait: a time limit for each case, and a wait that can say what it waited for.

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace plait_test {

/// How long one test case may take: PLAIT_TEST_TIME_LIMIT in seconds, or 60, under a sanitizer 300.
std::chrono::seconds time_limit();

/// Starts the clock of a case, or of something between cases; the program aborts when it runs out. Ends the one before.
void start_clock(std::string what, const char* file, int line);
/// Stops the clock.
void stop_clock();

/// While it lives, the message about an expired clock says that this thread waited for `what`.
class [[nodiscard("it names what is waited for while it lives")]] waiting_for {
 public:
  explicit waiting_for(std::string_view what);
  ~waiting_for();
  waiting_for(const waiting_for&) = delete;
  waiting_for& operator=(const waiting_for&) = delete;

 private:
  void* entry_;
};

/// Polls until cond() is true. Fails the test, naming `what`, if that takes longer than `limit`. Returns whether it
/// came true.
template <class Condition>
bool wait_until(Condition&& cond, std::string_view what, std::chrono::milliseconds limit = time_limit() / 2) {
  waiting_for named(what);
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; !cond(); ++round) {
    if (std::chrono::steady_clock::now() - start > limit) {
      FAIL_CHECK("waited ", limit.count(), " ms in vain for: ", std::string(what));
      return false;
    }
    if (round < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  return true;
}

}  // namespace plait_test
