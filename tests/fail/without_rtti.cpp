// SPDX-License-Identifier: BSL-1.0
// flags: -fno-rtti
// expect-error: plait needs RTTI.*remove -fno-rtti
#include <plait/base/config.hpp>
