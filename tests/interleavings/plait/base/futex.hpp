// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>

#include <climits>
#include <cstdint>

// Stands in for include/plait/base/futex.hpp. There is no time: a wait ends by a wake.

namespace plait::base {

enum class futex_scope { process, shared };
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds,
                       futex_scope) noexcept {
  auto& c = interleaving::checker::instance();
  c.step();
  if (word.newest() == expected) c.block(&word);
}

inline void futex_wake(const atomic<std::uint32_t>& word, futex_scope, int = INT_MAX) noexcept {
  auto& c = interleaving::checker::instance();
  c.step();
  c.release(&word);
}

}  // namespace plait::base
