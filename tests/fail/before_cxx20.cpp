// SPDX-License-Identifier: BSL-1.0
// flags: -std=c++17
// expect-error: plait needs C\+\+20: add -std=c\+\+20
#include <plait/base/config.hpp>
