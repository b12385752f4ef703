// SPDX-License-Identifier: BSL-1.0
// expect-error: plait: launch needs a function that gives task<void> or task<int>
#include <plait/plait.hpp>

plait::task<double> root() { co_return 1.5; }

int main(int argc, char** argv) { return plait::launch<root>(argc, argv); }
