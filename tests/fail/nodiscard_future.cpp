// SPDX-License-Identifier: BSL-1.0
// flags: -Werror=unused-result
// expect-error: ignoring return(ed)? value.*a dropped future detaches its task
#include <plait/core.hpp>

plait::task<int> number() { co_return 1; }

void forgets() { plait::spawn(number()); }
