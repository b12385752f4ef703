// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>

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

  pollable* next_pollable = nullptr;
};

/// Those of one rank. All but `any` by the holder of the transport.
class pollables {
 public:
  pollables() = default;
  pollables(const pollables&) = delete;
  pollables& operator=(const pollables&) = delete;

  void add(pollable& p) {
    *last_ = &p;
    last_ = &p.next_pollable;
    note();
  }
  /// Whether there are some. A hint for who is about to sleep; it has polled just before.
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

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
    note();
  }

 private:
  void note() noexcept { any_.store(first_ != nullptr, std::memory_order_relaxed); }  // see any

  pollable* first_ = nullptr;
  pollable** last_ = &first_;  // where the next one goes
  std::atomic<bool> any_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
