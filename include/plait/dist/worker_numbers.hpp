// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/dist/agreement.hpp>
#include <plait/dist/placement.hpp>
#include <plait/net/transport.hpp>

#include <cstddef>
#include <exception>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The workers of all ranks, numbered contiguously by rank.
class worker_numbers {
 public:
  /// Collective. own: the number of this rank's workers. refusal: why this rank can't start, or null; then all throw.
  worker_numbers(net::transport& transport, int own, const std::exception_ptr& refusal) {
    first_.push_back(0);
    for (const auto count : gather_unless_refused(transport, own, refusal)) {
      first_.push_back(first_.back() + static_cast<int>(count));
    }
  }

  /// The number of all workers.
  int count() const noexcept { return first_.back(); }
  /// The number of ranks.
  int ranks() const noexcept { return static_cast<int>(first_.size()) - 1; }
  /// The number of a rank's worker 0.
  int first_of(int rank) const noexcept { return first_[static_cast<std::size_t>(rank)]; }
  /// How many a rank has.
  int of(int rank) const noexcept { return first_of(rank + 1) - first_of(rank); }
  /// The rank of a worker that exists.
  int rank_of(int worker) const noexcept {
    int low = 0;
    int high = ranks();  // its first worker comes after
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (first_of(middle) <= worker ? low : high) = middle;
    }
    return low;
  }

 private:
  base::growing_array<int> first_;
};

/// Throws plait::error unless 0 <= index < count.
inline void check_range(const char* what, int index, int count) {
  if (index < 0 || index >= count) {
    throw error(
        base::compose({"plait: ", what, " ", index, " was asked for; there are ", count, ", from 0 to ", count - 1}));
  }
}

/// Where a placement leads: the rank, and its local worker or -1. Those without a rank or worker stay on `own`. Throws
/// plait::error for a rank or worker that does not exist.
struct found_place {
  int rank;
  int local_worker;
};
inline found_place find_place(const worker_numbers& numbers, placement where, int own) {
  if (where.where == place::prefer_worker || where.where == place::on_worker) {
    check_range("worker", where.index, numbers.count());
    const int rank = numbers.rank_of(where.index);
    return {rank, where.index - numbers.first_of(rank)};
  }
  if (where.where != place::prefer_rank && where.where != place::on_rank) return {own, -1};
  check_range("rank", where.index, numbers.ranks());
  return {where.index, -1};
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
