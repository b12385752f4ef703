// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>

#include <memory>
#include <utility>

#include "../../checker.hpp"

// Stands in for include/plait/base/thread.hpp.

namespace plait::base {

class thread {
 public:
  thread() noexcept = default;
  template <class F>
  explicit thread(F body)
      : id_(interleaving::checker::instance().add([kept = std::make_shared<F>(std::move(body))] { (*kept)(); })),
        running_(true) {}
  thread(thread&& other) noexcept : id_(other.id_), running_(std::exchange(other.running_, false)) {}
  thread& operator=(thread&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(running_, other.running_);
    return *this;
  }
  ~thread() { join(); }
  void join() noexcept {
    if (std::exchange(running_, false)) interleaving::checker::instance().join(id_);
  }

 private:
  std::size_t id_ = 0;
  bool running_ = false;
};

}  // namespace plait::base
