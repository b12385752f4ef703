// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

PLAIT_INTERFACE

namespace plait::sched {

/// What a layer above keeps beside the workers of a pool, threads for blocking calls for instance. The pool ends it
/// when no task is left.
class pool_part {
 public:
  virtual ~pool_part() = default;
  /// Whether the calling thread ends with it.
  virtual bool owns_this_thread() const noexcept = 0;
};

}  // namespace plait::sched
