// SPDX-License-Identifier: BSL-1.0
#pragma once

#define PLAIT_VERSION_MAJOR 0
#define PLAIT_VERSION_MINOR 1
#define PLAIT_VERSION_PATCH 0

namespace plait {

/// The version of these headers as text, "major.minor.patch".
inline constexpr const char* version = "0.1.0";

}  // namespace plait
