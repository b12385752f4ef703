// SPDX-License-Identifier: BSL-1.0
// expect-success

// Compiles with the flags of the other files in this folder, so what fails there fails by itself.
#include <plait/base/config.hpp>
#include <plait/base/errors.hpp>

int main() { throw plait::error("not run"); }
