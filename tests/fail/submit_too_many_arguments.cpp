// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: submit got another number of arguments than the function has parameters
#include <plait/plait.hpp>

int add(int a, int b) { return a + b; }

plait::task<void> root() { co_await plait::submit<add>(plait::here, 1, 2, 3); }

int main() {}
