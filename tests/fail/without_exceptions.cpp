// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions
// expect-error: plait needs exceptions.*remove -fno-exceptions
#include <plait/base/config.hpp>
