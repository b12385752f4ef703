// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: this type cannot travel to another rank.*include cereal\'s header
#include <plait/plait.hpp>

#include <queue>

std::size_t length(std::queue<int> numbers) { return numbers.size(); }

plait::task<void> root() { co_await plait::submit<length>(std::queue<int>()); }

int main() {}
