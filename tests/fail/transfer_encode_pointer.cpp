// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a raw pointer cannot travel to another rank
#include <plait/wire/codec.hpp>

int main() {
  std::vector<std::byte> bytes;
  plait::wire::writer out(bytes);
  int value = 1;
  plait::wire::encode(out, &value);
}
