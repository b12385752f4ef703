// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>
#include <plait/report/trace_part.hpp>

#include <cstddef>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::report {

/// A record of a trace, and whose it is.
struct trace_moment {
  std::int64_t time;  ///< by rank 0's clock
  const obs::trace_record* record;
  std::uint32_t part;
  std::uint32_t worker;  ///< of the part
};

/// Appends the records of a part. Returns how many its rings have lost.
inline std::uint64_t add_moments(base::growing_array<trace_moment>& all, const trace_part_view& part,
                                 std::uint32_t number) {
  const auto& head = part.head();
  std::uint64_t dropped = 0;
  for (std::uint32_t w = 0; w < head.workers; ++w) {
    const auto written = part.ring(w).written;
    const auto kept = written < head.ring_records ? written : head.ring_records;
    dropped += written - kept;
    for (auto i = written - kept; i < written; ++i) {
      const auto& r = part.records(w)[i & (head.ring_records - 1)];
      all.push_back({r.time + head.clock_offset, &r, number, w});
    }
  }
  return dropped;
}

/// Puts moments into the order of their times; those of one worker stay in theirs. By merging halves.
inline void order_moments(trace_moment* first, trace_moment* last) {
  const auto count = last - first;
  if (count < 2) return;
  auto* const middle = first + count / 2;
  order_moments(first, middle);
  order_moments(middle, last);
  base::growing_array<trace_moment> left;
  left.reserve(static_cast<std::size_t>(middle - first));
  for (auto* m = first; m != middle; ++m) left.push_back(*m);
  auto* l = left.begin();
  for (auto* r = middle; l != left.end(); ++first) *first = r != last && r->time < l->time ? *r++ : *l++;
}

}  // namespace plait::report
