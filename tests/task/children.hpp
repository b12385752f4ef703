// SPDX-License-Identifier: BSL-1.0
#pragma once

// What the tests of joins join.

#include <plait/core.hpp>

#include <memory>
#include <stdexcept>

namespace plait_test {

inline plait::task<int> number(int n) {
  if (n % 2 == 0) co_await plait::yield();
  co_return n;
}
inline plait::task<> nothing() { co_return; }
inline plait::task<std::unique_ptr<int>> make(int n) { co_return std::make_unique<int>(n); }
inline plait::task<int&> refer(int& x) { co_return x; }
inline plait::task<int> fail(const char* what, int yields) {
  for (int i = 0; i < yields; ++i) co_await plait::yield();
  throw std::runtime_error(what);
}

}  // namespace plait_test
