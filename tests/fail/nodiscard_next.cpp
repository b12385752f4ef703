// SPDX-License-Identifier: BSL-1.0
// flags: -Werror=unused-result
// expect-error: ignoring return(ed)? value.*next does nothing until it is co_awaited
#include <plait/core.hpp>

plait::task<int> number() { co_return 1; }

plait::task<> forgets(plait::completions<int>& range) {
  plait::next(range);
  co_return;
}
