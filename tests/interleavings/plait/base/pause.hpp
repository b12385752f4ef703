// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "../../checker.hpp"

// Stands in for include/plait/base/pause.hpp.

namespace plait::base {

inline void give_way() noexcept { interleaving::checker::instance().give_way(); }
inline void pause() noexcept { interleaving::checker::instance().step(); }

class backoff {
 public:
  void wait() noexcept { give_way(); }
};

}  // namespace plait::base
