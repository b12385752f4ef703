// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a view .*cannot travel
#include <plait/wire/codec.hpp>

#include <span>

int main() { plait::check_transferable<std::span<const double>>(); }
