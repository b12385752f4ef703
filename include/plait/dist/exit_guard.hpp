// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Lives during a run. If the process calls exit meanwhile, the other ranks would wait for ever, and not every launcher
/// notices a process that ends with status 0: then the job ends with an error.
class exit_guard {
 public:
  /// abort: ends the job; called at exit in the middle of a run of more than one rank.
  exit_guard(int ranks, void (*abort)()) noexcept : counts_(ranks > 1) {
    if (!counts_) return;
    [[maybe_unused]] static const int registered = std::atexit(&at_exit);
    how_to_abort().store(abort, std::memory_order_relaxed);  // read at exit, by this program's last thread
    running().fetch_add(1, std::memory_order_relaxed);       // likewise
  }
  ~exit_guard() {
    if (counts_) running().fetch_sub(1, std::memory_order_relaxed);  // likewise
  }
  exit_guard(const exit_guard&) = delete;
  exit_guard& operator=(const exit_guard&) = delete;

 private:
  static std::atomic<int>& running() noexcept {
    static std::atomic<int> count{0};
    return count;
  }
  static std::atomic<void (*)()>& how_to_abort() noexcept {
    static std::atomic<void (*)()> f{nullptr};
    return f;
  }
  static void at_exit() {
    if (running().load(std::memory_order_relaxed) == 0) return;  // see the constructor
    std::fputs(
        "plait: exit was called in the middle of a run: the other ranks would wait for ever, so the job is aborted\n",
        stderr);
    if (auto* abort = how_to_abort().load(std::memory_order_relaxed)) abort();
    std::_Exit(1);
  }

  bool counts_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
