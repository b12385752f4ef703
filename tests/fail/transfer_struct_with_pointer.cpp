// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: a struct with a member that cannot travel
#include <plait/wire/codec.hpp>

struct row {
  int length;
  double* values;
};

int main() { plait::check_transferable<row>(); }
