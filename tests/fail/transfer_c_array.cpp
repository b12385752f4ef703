// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a C array cannot travel
#include <plait/wire/codec.hpp>

int main() { plait::check_transferable<int[4]>(); }
