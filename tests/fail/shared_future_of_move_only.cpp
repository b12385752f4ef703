// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a shared_future that ends with the expression gives a copy of the result, and this type can't be
// copied
#include <plait/core.hpp>

#include <memory>

plait::task<std::unique_ptr<int>> takes(plait::shared_future<std::unique_ptr<int>> f) {
  co_return co_await std::move(f);
}
