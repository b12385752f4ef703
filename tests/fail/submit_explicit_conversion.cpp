// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: submit got an argument that does not convert to the function's parameter
#include <plait/plait.hpp>

#include <vector>

std::size_t count(const std::vector<double>& values) { return values.size(); }

plait::task<void> root() { co_await plait::submit<count>(5); }

int main() {}
