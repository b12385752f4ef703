// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: this type cannot travel to another rank
#include <plait/wire/codec.hpp>

struct holder {
  std::string text;
};

int main() { plait::check_transferable<holder>(); }
