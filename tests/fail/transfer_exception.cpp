// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: this exception cannot travel
#include <plait/wire/exception.hpp>

struct opaque : std::exception {
  opaque(int a, int b) : sum(a + b) {}
  int sum;
};
inline plait::transferable_exception<opaque> register_opaque;

int main() {}
