// SPDX-License-Identifier: BSL-1.0
// All that plait/core.hpp has beside templates, for programs that are compiled with PLAIT_SEPARATE=1.
#define PLAIT_IMPLEMENTATION
#include <plait/core.hpp>
