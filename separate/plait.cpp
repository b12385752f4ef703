// SPDX-License-Identifier: BSL-1.0
// All that plait/plait.hpp has beside templates, for programs that are compiled with PLAIT_SEPARATE=1.
// docs: file
#define PLAIT_IMPLEMENTATION
#include <plait/plait.hpp>
// docs: end
