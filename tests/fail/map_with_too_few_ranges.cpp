// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: map got another number of ranges than the function has parameters
#include <plait/plait.hpp>

#include <vector>

int add(int a, int b) { return a + b; }

plait::task<void> root(std::vector<int> v) { co_await plait::map<add>(v); }

int main() {}
