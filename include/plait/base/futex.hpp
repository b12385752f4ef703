// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/base/config.hpp>
#include <plait/base/simulator.hpp>

#include <atomic>
#include <climits>
#include <cstdint>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#else
#include <thread>
#endif

PLAIT_INTERFACE

namespace plait::base {

/// Who waits on a futex word: threads of this process, or of any process that maps the memory it lies in.
enum class futex_scope { process, shared };

/// The time limit that is none.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

static_assert(sizeof(base::atomic<std::uint32_t>) == 4 && base::atomic<std::uint32_t>::is_always_lock_free,
              "plait: a futex word must be a plain 32-bit word");

namespace detail {
#if defined(__linux__)
inline void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds at_most, futex_scope scope) noexcept {
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(at_most.count() / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(at_most.count() % 1'000'000'000);
  const int operation = scope == futex_scope::shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE;
  ::syscall(SYS_futex, &word, operation, expected, at_most == forever ? nullptr : &limit, nullptr, 0);
}
inline void futex_wake(const base::atomic<std::uint32_t>& word, futex_scope scope, int how_many) noexcept {
  const int operation = scope == futex_scope::shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;
  ::syscall(SYS_futex, &word, operation, how_many, nullptr, nullptr, 0);
}
#else
// Without futexes: looks again, ever less often.
inline void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds at_most, futex_scope) noexcept {
  const auto start = std::chrono::steady_clock::now();
  std::chrono::nanoseconds pause = std::chrono::microseconds(20);
  while (word.load() == expected && std::chrono::steady_clock::now() - start < at_most) {
    std::this_thread::sleep_for(pause < at_most ? pause : at_most);
    if (pause < std::chrono::milliseconds(1)) pause *= 2;
  }
}
inline void futex_wake(const base::atomic<std::uint32_t>&, futex_scope, int) noexcept {}
#endif
}  // namespace detail

/// Sleeps while `word` holds `expected`, for `at_most` or until a wake. May return early; the caller looks again.
/// Unlike std::atomic::wait it has a time limit and works between processes.
inline void futex_wait(const base::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::chrono::nanoseconds at_most, futex_scope scope) noexcept {
  if (at_most <= std::chrono::nanoseconds::zero()) return;
  auto* s = this_simulator();
  if (s == nullptr) return detail::futex_wait(word, expected, at_most, scope);
  if (word.load() == expected) s->wait(&word, at_most.count());
}

/// Wakes up to `how_many` of those that sleep on `word`. The word must have been changed before.
inline void futex_wake(const base::atomic<std::uint32_t>& word, futex_scope scope, int how_many = INT_MAX) noexcept {
  if (auto* s = this_simulator()) return s->wake(&word, how_many);
  detail::futex_wake(word, scope, how_many);
}

}  // namespace plait::base
