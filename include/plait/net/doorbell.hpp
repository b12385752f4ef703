// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/futex.hpp>

#include <atomic>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::net {

/// What one sleeper waits on and any number of others ring. One word: bit 0 says that a sleep was prepared and nobody
/// has rung since, the rest counts the rings. It works between processes when it lies in memory that they share.
///
///   ticket = bell.prepare();   look for work once more;   bell.wait(ticket, ...);      the sleeper
///   publish the work;          bell.ring();                                            the others
///
/// No ring is lost: prepare and ring are read-modify-writes of one word, hence ordered. If the ring comes first, the
/// sleeper's second look sees the work; if it comes later, it changes the word and the wait returns.
class doorbell {
 public:
  /// Announces that the caller is about to sleep. It must look for work after this, before wait().
  std::uint32_t prepare() noexcept { return word_.fetch_or(asleep) | asleep; }

  /// Sleeps until a ring that came after the ticket, or for `at_most`; may also return for no reason. Returns whether
  /// there was a ring. Without one the word keeps saying that somebody sleeps, at the price of one needless wake, so
  /// that a late waiter cannot clear a new one's bit.
  bool wait(std::uint32_t ticket, std::chrono::nanoseconds at_most, base::futex_scope scope) const noexcept {
    base::futex_wait(word_, ticket, at_most, scope);
    return word_.load() != ticket;
  }

  /// Wakes the sleeper, or the one that is between prepare() and wait().
  void ring(base::futex_scope scope) noexcept {
    std::uint32_t old = word_.load();
    while (!word_.compare_exchange_weak(old, (old + 2) & ~asleep)) {
    }
    if (old & asleep) base::futex_wake(word_, scope);
  }

  /// The same for those who published their work by a seq_cst read-modify-write of a counter that the sleeper reads,
  /// seq_cst, after prepare(): costs one load when nobody sleeps.
  void ring_if_asleep(base::futex_scope scope) noexcept {
    if (word_.load() & asleep) ring(scope);
  }

 private:
  static constexpr std::uint32_t asleep = 1;

  base::atomic<std::uint32_t> word_{0};
};

}  // namespace plait::net
