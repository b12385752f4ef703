// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <mutex>

PLAIT_INTERFACE

namespace plait::base {

/// The mutex of the scheduler and the tasks; see atomic.hpp.
using mutex = std::mutex;

}  // namespace plait::base
