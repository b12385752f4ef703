// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: map got a range whose elements do not convert to the function's parameter
#include <plait/plait.hpp>

std::size_t length(std::string text) { return text.size(); }

plait::task<void> root() { co_await plait::map<length>(std::vector<int>(3)); }

int main() {}
