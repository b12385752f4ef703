// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/clock.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/run_end.hpp>
#include <plait/dist/stall_report.hpp>
#include <plait/sched/pool.hpp>
#include <plait/sched/worker.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Who polls.
struct poller {
  sched::worker* worker = nullptr;  ///< or the progress thread
  bool lies = false;                ///< it counts as asleep

  /// Whether it is at rest but for the poll, and parking_lot::at_rest leaves it out.
  bool rests_uncounted() const noexcept {
    return worker != nullptr && !lies && worker->role() == sched::parking_lot::role::deep;
  }
};

/// Finds a run that does not go on: no worker of any rank has executed anything for a while. Each rank knows since when
/// it is calm. When rank 0 has been for the time that is asked for, it asks the others, down a tree and back; a rank
/// that computes, or has done so since, says so, and rank 0 asks again when that rank may have been calm for as long.
/// If all have been, each says what it waits for. So a busy job sends nothing, and one with a single long task a
/// message a rank now and then. Where nothing else is said, by the holder of the transport.
class stall_watch {
 public:
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

  /// All must outlive it. after: 0 for never; rank 0's counts.
  stall_watch(link& l, run_end& end, const waits& of, nanoseconds after) noexcept
      : link_(l), end_(end), of_(of), after_(after) {}

  /// A run begins.
  void reset() noexcept {
    answers_missing_ = 0;
    asked_ = said_ = calm_ = false;
    ask_at_ = {};
    due_.store(never, std::memory_order_relaxed);  // before the run, which publishes it
  }

  /// Somebody is about to sleep. unfinished: see stall_report.
  void look(const poller& by, bool unfinished) {
    const auto now = base::now();
    const auto calm = sample(by, now);
    if (after_.count() == 0 || link_.transport().rank() != 0) return;
    if (said_ && calm < after_) {
      said_ = false;
      link_.transport().wake();  // the sleeper has set no alarm
    }
    if (calm_ && !asked_ && !said_ && !end_.closing() && calm >= after_ && now >= ask_at_) ask(calm, now, unfinished);
    const auto due = !calm_ || asked_ ? now + after_ : since_ + after_ > ask_at_ ? since_ + after_ : ask_at_;
    // relaxed: one who sleeps already has an alarm that is not later than `after` from then, and looks again
    due_.store(said_ ? never : due.time_since_epoch().count(), std::memory_order_relaxed);
  }
  /// How long one may sleep before the next look. Any thread.
  nanoseconds time_left() const noexcept {
    const auto due = due_.load(std::memory_order_relaxed);  // see look
    if (due == never) return nanoseconds::max();
    return base::time_until(clock::time_point(nanoseconds(due)));
  }

  /// One of the three messages about it.
  void on(message kind, std::span<const std::byte> payload, const poller& by, bool unfinished) {
    if (kind == message::calm_ask) {
      ask_children(nanoseconds::max());
    } else {
      const nanoseconds said(take_head<calm_head>(payload).nanoseconds);
      if (kind == message::stalled) return tell(said, unfinished);
      if (answers_missing_ == 0)
        throw error("plait: a rank has said unasked for how long it is calm: a message is damaged");
      --answers_missing_;
      if (said < least_) least_ = said;
    }
    if (answers_missing_ == 0) conclude(by, unfinished);
  }

 private:
  static constexpr std::int64_t never = INT64_MAX;

  /// How long nothing has run on this rank, as far as is known.
  nanoseconds sample(const poller& by, clock::time_point now) {
    auto& workers = of_.workers;
    std::uint64_t ran = 0;
    for (unsigned i = 0; i < workers.size(); ++i) ran += workers.at(i).counters.ran.read();
    // A job that is running now has begun after the last look, or all were not at rest then.
    const bool rest = workers.parking().at_rest() + (by.rests_uncounted() ? 1 : 0) >= workers.size();
    if (!rest || !calm_ || ran != ran_) since_ = now;
    calm_ = rest;
    ran_ = ran;
    return now - since_;
  }

  /// Rank 0 has been calm for long enough.
  void ask(nanoseconds calm, clock::time_point now, bool unfinished) {
    ask_children(calm);
    asked_ = true;
    if (answers_missing_ == 0) judge(now, unfinished);
  }
  void ask_children(nanoseconds least) {
    least_ = least;
    end_.for_children([this](int child) { send(child, message::calm_ask, least_), ++answers_missing_; });
  }
  /// All below have answered.
  void conclude(const poller& by, bool unfinished) {
    const auto now = base::now();
    if (const auto own = sample(by, now); own < least_) least_ = own;
    if (const int rank = link_.transport().rank(); rank != 0) return send((rank - 1) / 2, message::calm_said, least_);
    judge(now, unfinished);
  }
  void judge(clock::time_point now, bool unfinished) {
    asked_ = false;
    said_ = least_ >= after_;
    if (said_) return tell(least_, unfinished);
    const auto shortest = after_ / 256;  // ranks may have come to rest one after another
    ask_at_ = now + (after_ - least_ > shortest ? after_ - least_ : shortest);
  }
  void tell(nanoseconds calm, bool unfinished) {
    end_.for_children([this, calm](int child) { send(child, message::stalled, calm); });
    print_stall(link_.transport().rank(), calm, of_, unfinished);
  }
  void send(int rank, message kind, nanoseconds calm) { link_.send_head(rank, kind, calm_head{calm.count()}); }

  link& link_;
  run_end& end_;
  const waits of_;
  const nanoseconds after_;
  clock::time_point since_{};   ///< nothing has run since, if calm_
  clock::time_point ask_at_{};  ///< not before
  std::uint64_t ran_ = 0;       ///< what the workers had counted at the last look
  bool calm_ = false;           ///< all were at rest then
  bool asked_ = false;          ///< rank 0: answers are missing
  bool said_ = false;           ///< that nothing runs, since something has run on rank 0
  int answers_missing_ = 0;
  nanoseconds least_{0};  ///< of those that have answered
  base::atomic<std::int64_t> due_{never};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
