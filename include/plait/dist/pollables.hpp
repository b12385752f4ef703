// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/config.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Something else that who holds the transport looks at now and then for a suspended task.
struct pollable {
  virtual ~pollable() = default;
  /// True once it is done; not called again then.
  virtual bool test() noexcept = 0;
  /// Resumes the task. The last use.
  virtual void resume() noexcept = 0;
  /// The name of what the task called.
  virtual const char* call() const noexcept = 0;

  pollable* next_pollable = nullptr;
};

/// Those of one rank. Where nothing else is said, by the holder of the transport.
class pollables {
 public:
  pollables() = default;
  pollables(const pollables&) = delete;
  pollables& operator=(const pollables&) = delete;

  void add(pollable& p) {
    *last_ = &p;
    last_ = &p.next_pollable;
    unresumed_.fetch_add(1, std::memory_order_seq_cst);  // partner: any
  }
  /// Whether there are some that have not been resumed. Any thread.
  bool any() const noexcept { return unresumed_.load(std::memory_order_seq_cst) != 0; }  // partner: add, resume_all

  /// Calls f(const pollable&) for all that are not done.
  template <class F>
  void for_each(F f) const {
    for (const auto* p = first_; p != nullptr; p = p->next_pollable) f(*p);
  }

  /// Resumes those that test has taken out. Not by the holder of the transport.
  void resume_all(pollable* done) noexcept {
    std::uint64_t count = 0;
    for (; done != nullptr; ++count) std::exchange(done, done->next_pollable)->resume();
    if (count != 0) unresumed_.fetch_sub(count, std::memory_order_seq_cst);  // partner: any
  }

  /// Tests all, takes those that are done out, and puts them before `done`, a list by next_pollable.
  void test(pollable*& done) noexcept {
    if (first_ == nullptr) return;
    last_ = &first_;
    for (auto* p = first_; p != nullptr;) {
      auto* const next = p->next_pollable;
      if (p->test()) {
        p->next_pollable = done;
        done = p;
      } else {
        *last_ = p;
        last_ = &p->next_pollable;
      }
      p = next;
    }
    *last_ = nullptr;
  }

 private:
  pollable* first_ = nullptr;
  pollable** last_ = &first_;  // where the next one goes
  base::atomic<std::uint64_t> unresumed_{0};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
