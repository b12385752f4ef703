// SPDX-License-Identifier: BSL-1.0
// expect-error: return_value
#include <plait/core.hpp>

#include <vector>

plait::task<std::vector<int>> zeroes() { co_return 5; }

int main() {}
