// SPDX-License-Identifier: BSL-1.0
// flags: -Werror=unused-result
// expect-error: ignoring return(ed)? value.*when_any does nothing until it is co_awaited
#include <plait/core.hpp>

plait::task<> forgets(plait::future<int>& f) {
  plait::when_any(f);
  co_return;
}
