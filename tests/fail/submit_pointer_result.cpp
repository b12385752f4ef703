// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a raw pointer cannot travel to another rank
#include <plait/plait.hpp>

const char* name() { return "name"; }

plait::task<void> root() { co_await plait::submit<name>(); }

int main() {}
