// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: .*cannot travel
#include <plait/plait.hpp>

#include <memory>
#include <mutex>

struct handle {
  std::unique_ptr<std::mutex> mutex;
};
handle make() { return {}; }

plait::task<void> root() { co_await plait::submit<make>(); }

int main() {}
