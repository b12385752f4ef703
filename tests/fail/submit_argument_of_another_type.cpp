// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: submit got an argument that does not convert to the function's parameter
#include <plait/plait.hpp>

#include <string>

int negate(int n) { return -n; }

plait::task<void> root() { co_await plait::submit<negate>(std::string("1")); }

int main() {}
