// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <initializer_list>
#include <iterator>

// The concepts of ranges. <ranges> brings its views too; libstdc++ has the rest in a header of its own.
#if __has_include(<bits/ranges_base.h>)
#include <bits/ranges_base.h>
#else
#include <ranges>
#endif
