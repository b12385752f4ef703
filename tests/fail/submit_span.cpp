// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a view .*cannot travel
#include <plait/plait.hpp>

#include <span>

int count(std::span<const int> numbers) { return static_cast<int>(numbers.size()); }

plait::task<void> root(std::span<const int> numbers) { co_await plait::submit<count>(numbers); }

int main() {}
