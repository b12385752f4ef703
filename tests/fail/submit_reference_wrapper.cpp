// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a view .*cannot travel
#include <plait/plait.hpp>

#include <functional>

int look_at(std::reference_wrapper<int> n) { return n.get(); }

plait::task<void> root(int n) { co_await plait::submit<look_at>(std::ref(n)); }

int main() {}
