// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a view .*cannot travel
#include <plait/plait.hpp>

#include <string_view>

int length(std::string_view text) { return static_cast<int>(text.size()); }

plait::task<void> root() { co_await plait::submit<length>("text"); }

int main() {}
