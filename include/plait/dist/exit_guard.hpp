// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/config.hpp>
#if PLAIT_WITH_MPI
#include <plait/net/mpi.hpp>
#endif

#include <atomic>
#include <cstdio>
#include <cstdlib>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Lives during a run, or as long as a runtime over MPI. If the process calls exit meanwhile, the other ranks would
/// wait for ever, and not every launcher notices a process that ends with status 0: then the job ends with an error.
class exit_guard {
 public:
  enum class scope { run, runtime };

  /// abort: ends the job; called at exit while the guard of a runtime of more than one rank lives.
  exit_guard(scope s, int ranks, void (*abort)()) noexcept : count_(ranks > 1 ? &count(s) : nullptr) {
    if (count_ == nullptr) return;
    [[maybe_unused]] static const int registered = std::atexit(&at_exit);
    how_to_abort().store(abort, std::memory_order_relaxed);  // read at exit, by this program's last thread
    count_->fetch_add(1, std::memory_order_relaxed);         // likewise
  }
  ~exit_guard() {
    if (count_ != nullptr) count_->fetch_sub(1, std::memory_order_relaxed);  // likewise
  }
  exit_guard(const exit_guard&) = delete;
  exit_guard& operator=(const exit_guard&) = delete;

 private:
  static base::atomic<int>& count(scope s) noexcept {
    static base::atomic<int> runs{0};
    static base::atomic<int> runtimes{0};
    return s == scope::run ? runs : runtimes;
  }
  static base::atomic<void (*)()>& how_to_abort() noexcept {
    static base::atomic<void (*)()> f{nullptr};
    return f;
  }
  static bool mpi_is_alive() noexcept {
#if PLAIT_WITH_MPI
    return net::mpi_is_alive();
#else
    return false;
#endif
  }
  static void at_exit() {
    if (count(scope::run).load(std::memory_order_relaxed) != 0) {  // see the constructor
      std::fputs(
          "plait: exit was called in the middle of a run: the other ranks would wait for ever, so the job is aborted; "
          "throw from the root task, or return from main\n",
          stderr);
    } else if (count(scope::runtime).load(std::memory_order_relaxed) != 0 && mpi_is_alive()) {
      std::fputs(
          "plait: exit was called while a runtime lives: the other ranks would wait for ever at its end, so the job is "
          "aborted; return from main instead\n",
          stderr);
    } else {
      return;  // also where a runtime was forgotten, and MPI has ended on all ranks
    }
    if (auto* abort = how_to_abort().load(std::memory_order_relaxed)) abort();
    std::_Exit(1);
  }

  base::atomic<int>* count_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
