// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a reference cannot travel to another rank
#include <plait/wire/codec.hpp>

int main() { plait::check_transferable<const std::string&>(); }
