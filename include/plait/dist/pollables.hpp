// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <atomic>
#include <vector>

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
};

/// Those of one rank. All but `any` by the holder of the transport.
class pollables {
 public:
  void add(pollable& p) {
    waiting_.push_back(&p);
    note();
  }
  /// Whether there are some. A hint for who is about to sleep; it has polled just before.
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

  /// Tests all, and moves those that are done to `done`.
  void test(std::vector<pollable*>& done) {
    if (waiting_.empty()) return;
    done.reserve(waiting_.size());
    std::erase_if(waiting_, [&done](pollable* p) {
      const bool is_done = p->test();
      if (is_done) done.push_back(p);
      return is_done;
    });
    note();
  }

 private:
  void note() noexcept { any_.store(!waiting_.empty(), std::memory_order_relaxed); }  // see any

  std::vector<pollable*> waiting_;
  std::atomic<bool> any_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
