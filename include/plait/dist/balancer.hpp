// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/dist/dispatch.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/portable.hpp>
#include <plait/dist/stealable.hpp>
#include <plait/dist/thief.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Stealing between ranks: asks for tasks when this rank is idle, and gives tasks to those who ask. All but `on`,
/// `set`, `someone_waits` and `may_ask` by the holder of the transport.
class balancer {
 public:
  balancer(link& l, stealable& tasks, pool& p, dispatch& d, bool on)
      : link_(l), tasks_(tasks), pool_(p), dispatch_(d), thief_(l.transport()), on_(on) {}

  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }  // a hint; see set
  void set(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }  // spread by messages, which order it
  /// Whether a rank waits at this end of a lifeline. A hint.
  bool someone_waits() const noexcept { return someone_waits_.load(std::memory_order_relaxed); }

  /// A run begins.
  void reset() {
    thief_.reset();
    note();
  }

  /// Whether ask would do something. A hint.
  bool may_ask() const noexcept { return on() && may_ask_.load(std::memory_order_relaxed); }

  /// The rank has nothing to do: asks another one if it is time to.
  void ask(sched::worker& w) {
    if (!on() || !thief_.wants_to_ask()) return;
    const int victim = thief_.next_victim([&w] { return w.random(); },
                                          [this](int rank) { link_.send_bytes(rank, message::lifeline, {}); });
    if (victim >= 0) link_.send_head(victim, message::steal, steal_head{0, 0});
    note();
  }

  /// Whether ask_early would do something. A hint.
  bool may_ask_early() const noexcept { return on() && may_ask_early_.load(std::memory_order_relaxed); }
  /// The rank works: asks another one if little is left, so that the answer comes in time.
  void ask_early() {
    if (tasks_.count() > pool_.size()) return;
    link_.send_head(thief_.early_victim(), message::steal, steal_head{1, 0});
    note();
  }

  /// keep: how many tasks the polling worker is about to take; none where no worker polls. Without that two idle ranks
  /// could take one task from each other for ever. Who still has work gets less.
  void on_steal(int source, const steal_head& head, std::uint64_t keep) {
    const auto count = on() ? give(source, head.early != 0 ? 2 * pool_.size() : keep) : 0;
    link_.send_head(source, message::steal_done, reply_head{static_cast<std::uint32_t>(count), 0});
  }
  void on_steal_done(const reply_head& head) noexcept {
    thief_.answered(head.count);
    note();
  }
  /// A task came that was given away (see give), not one that was meant for this rank: that says nothing about its
  /// sender having more, and leaves the lifelines as they are.
  void on_given(int source) noexcept {
    thief_.task_came(source);
    note();
  }
  void on_lifeline(int source) {
    thief_.add_waiting(source);
    feed(1);
  }

  /// Gives to those who wait at this end of a lifeline, but leaves `keep` tasks.
  void feed(std::uint64_t keep) {
    while (on() && thief_.anyone_waiting() && tasks_.count() > keep) {
      const int rank = thief_.take_waiting();
      if (give(rank, keep) == 0) {
        thief_.add_waiting(rank);
        break;
      }
    }
    note();
  }

 private:
  /// Half of a large bag must be able to leave at once: 64 tasks at a time kept hundreds of ranks waiting.
  static constexpr std::size_t most_given_bytes = 1024 * 1024;

  /// Sends up to half of what others could take, oldest first and no more than most_given_bytes and one, but leaves
  /// `keep`. Returns the number.
  std::uint64_t give(int rank, std::uint64_t keep) {
    const auto all = tasks_.count();
    if (all <= keep) return 0;
    const auto half = (all - keep + 1) / 2;
    std::uint64_t given = 0;
    for (std::size_t bytes = 0; given < half && bytes < most_given_bytes;) {
      auto* j = tasks_.take_oldest();
      if (j == nullptr) break;
      auto* task = static_cast<portable*>(j);
      if (!task->claim_to_leave()) continue;
      try {
        bytes += dispatch_.ship(task, rank, place::anywhere, -1);
        ++given;
      } catch (...) {  // it can't be packed: it runs here
        pool_.post(task);
      }
    }
    return given;
  }

  /// Relaxed: hints.
  void note() noexcept {
    someone_waits_.store(thief_.anyone_waiting(), std::memory_order_relaxed);
    may_ask_.store(thief_.wants_to_ask(), std::memory_order_relaxed);
    may_ask_early_.store(thief_.wants_to_ask_early(), std::memory_order_relaxed);
  }

  link& link_;
  stealable& tasks_;
  pool& pool_;
  dispatch& dispatch_;
  thief thief_;
  base::atomic<bool> on_;
  base::atomic<bool> someone_waits_{false};
  base::atomic<bool> may_ask_{false};
  base::atomic<bool> may_ask_early_{false};
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
