// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a lambda with captures cannot travel to another rank
#include <plait/wire/codec.hpp>

int main() {
  int n = 1;
  auto count = [n] { return n; };
  plait::check_transferable<decltype(count)>();
  return count();
}
