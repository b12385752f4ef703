// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: run can't give a reference
#include <plait/plait.hpp>

plait::task<int&> root() {
  static int n = 0;
  co_return n;
}

void all(plait::runtime& rt) { rt.run(root()); }

int main() {}
