// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a std::function cannot travel to another rank
#include <plait/wire/codec.hpp>

#include <functional>

int main() { plait::check_transferable<std::function<int(int)>>(); }
