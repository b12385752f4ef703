// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include "../../checker.hpp"

// Stands in for include/plait/base/thread_slot.hpp.

namespace plait::base {

inline void* thread_worker() noexcept { return interleaving::checker::instance().thread_worker(); }
inline bool is_below_thread_floor() noexcept { return false; }
inline const void* thread_identity() noexcept { return interleaving::checker::instance().thread_identity(); }
inline void set_thread_worker(void* worker) noexcept { interleaving::checker::instance().thread_worker() = worker; }
inline char* exchange_thread_floor(char*) noexcept { return nullptr; }

}  // namespace plait::base
