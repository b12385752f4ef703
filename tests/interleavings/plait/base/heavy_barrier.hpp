// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <source_location>

#include "../../checker.hpp"

// Stands in for include/plait/base/heavy_barrier.hpp.

namespace plait::base {

inline bool register_heavy_barrier() noexcept { return interleaving::checker::instance().has_heavy_barrier(); }

inline void heavy_barrier(std::source_location where = std::source_location::current()) noexcept {
  auto& c = interleaving::checker::instance();
  c.step();
  if (c.mutation_of(interleaving::operation::barrier, where) == nullptr) c.meet_all();
}

}  // namespace plait::base
