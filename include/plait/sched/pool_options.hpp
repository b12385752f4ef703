// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/topology.hpp>

#include <type_traits>

PLAIT_INTERFACE

namespace plait {

/// What a pool is made of.
struct pool_options {
  int workers = 0;             ///< 0: as many as the process may use processors (affinity and CPU quota)
  int blocking_threads = 256;  ///< most threads at a time for `blocking` calls; more calls than that wait their turn

  static constexpr int most_workers = 1024;
  static constexpr int most_blocking_threads = 32768;

  /// The numbers that are meant, at least 1. They throw plait::error if that is not possible.
  unsigned worker_count() const {
    if (workers == 0) return base::usable_processors();
    if (workers < 0 || workers > most_workers) {
      throw error(base::compose_text({"plait: a pool of ", workers, " workers was asked for; possible are 1 to ",
                                      most_workers, ", or 0 for one a processor"})
                      .c_str());
    }
    return static_cast<unsigned>(workers);
  }
  unsigned blocking_limit() const {
    if (blocking_threads < 1 || blocking_threads > most_blocking_threads) {
      throw error(
          base::compose_text({"plait: a pool with at most ", blocking_threads,
                              " threads for blocking calls was asked for; possible are 1 to ", most_blocking_threads})
              .c_str());
    }
    return static_cast<unsigned>(blocking_threads);
  }
};
static_assert(
    std::is_trivially_destructible_v<pool_options>);  // see the contract page: braces in a co_await expression

}  // namespace plait
