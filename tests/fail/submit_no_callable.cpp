// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: .*is no function
#include <plait/plait.hpp>

plait::task<void> root() { co_await plait::submit<42>(3); }

int main() {}
