// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: parallel_sort needs iterators to elements that are objects of their own
#include <plait/core.hpp>

#include <vector>

plait::task<void> bits(std::vector<bool>& v) { co_await plait::parallel_sort(v); }
