// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstdint>
#include <type_traits>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {
enum class place : std::uint8_t { anywhere, here, cyclic, prefer_rank, on_rank, prefer_worker, on_worker };
}

/// Where a submitted task runs: the first argument of submit.
struct placement {
  dist::place where;
  int index;
};

/// Runs on rank r and nowhere else.
constexpr placement on_rank(int r) noexcept { return {dist::place::on_rank, r}; }
/// Runs on worker w, counted over all ranks, and nowhere else.
constexpr placement on_worker(int w) noexcept { return {dist::place::on_worker, w}; }
/// Starts in a queue of rank r, from where idle ranks may take it.
constexpr placement prefer_rank(int r) noexcept { return {dist::place::prefer_rank, r}; }
/// Starts in the queue of worker w, counted over all ranks, from where idle workers may take it.
constexpr placement prefer_worker(int w) noexcept { return {dist::place::prefer_worker, w}; }
/// Runs on the rank that submits it.
inline constexpr placement here{dist::place::here, 0};
/// Starts in the submitting worker's queue; idle workers and ranks take it. The default. Where stealing between ranks
/// is off: cyclic in the root task, here in others.
inline constexpr placement anywhere{dist::place::anywhere, 0};
/// Starts in the queues of all workers in turn; each rank has its own count.
inline constexpr placement cyclic{dist::place::cyclic, 0};

}  // namespace PLAIT_DIST
}  // namespace plait
