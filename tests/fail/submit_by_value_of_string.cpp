// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: by_value needs a lambda whose captures are trivially copyable
#include <plait/plait.hpp>

#include <string>

plait::task<void> root(std::string s) {
  co_await plait::submit(plait::by_value([s] { return s.size(); }));
}

int main() {}
