// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: when_all gives a copy of what a shared_future holds, and this type can't be copied
#include <plait/core.hpp>

#include <memory>

plait::task<std::unique_ptr<int>> box() { co_return std::make_unique<int>(1); }

plait::task<> joins() {
  auto shared = plait::spawn(box()).share();
  co_await plait::when_all(shared);
}
