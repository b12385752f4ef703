// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>

#include "../../checker.hpp"

// Stands in for include/plait/base/mutex.hpp.

namespace plait::base {

class mutex {
 public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() {
    auto& c = interleaving::checker::instance();
    c.step();
    while (held_) c.block(this);
    take();
  }
  bool try_lock() {
    interleaving::checker::instance().step();
    if (held_) return false;
    take();
    return true;
  }
  void unlock() {
    auto& c = interleaving::checker::instance();
    c.tick();
    known_ = c.now();
    held_ = false;
    c.release(this);
  }

 private:
  void take() {
    held_ = true;
    interleaving::checker::instance().now().join(known_);
  }
  bool held_ = false;
  interleaving::times known_;
};

}  // namespace plait::base
