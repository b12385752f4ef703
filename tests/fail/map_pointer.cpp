// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a raw pointer cannot travel to another rank
#include <plait/plait.hpp>

#include <vector>

int look_at(const int* n) { return *n; }

plait::task<void> root(std::vector<const int*> v) { co_await plait::map<look_at>(v); }

int main() {}
