// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a raw pointer cannot travel to another rank
#include <plait/plait.hpp>

double sum(const double* values, int count) { return count > 0 ? values[0] : 0; }

plait::task<void> root(const double* values) { co_await plait::submit<sum>(values, 3); }

int main() {}
