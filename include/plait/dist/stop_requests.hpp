// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/replies.hpp>
#include <plait/dist/slots.hpp>
#include <plait/dist/visitors.hpp>
#include <plait/sched/worker.hpp>

#include <cstddef>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Requests to stop tasks that are on other ranks than their own. A task's rank knows where it has gone: a rank that
/// gets it from a third one says so. A request that misses the task, which is moving on, is made again then. One that
/// overtakes a large task is kept until that comes. No request is sent for a task that has ended, so none is under way
/// when a run ends.
class stop_requests {
 public:
  using list = base::growing_array<return_address>;

  /// All must outlive it.
  stop_requests(link& l, replies& answers, slot_table& slots) noexcept : link_(l), answers_(answers), slots_(slots) {}

  /// The tasks of other ranks that are on this one.
  visitors& here() noexcept { return visitors_; }

  /// Asks a rank that has got a task of this one to stop it. The task may not end meanwhile. Any thread.
  void send(int rank, const return_address& to) noexcept {
    try {
      link_.send(rank, message::stop, [&to](wire::writer& out) { out.write(&to, sizeof to); });
    } catch (...) {  // no memory: it ends by itself
    }
  }
  /// Stops tasks that are here, each if it still is. Not by the holder of the transport, since what a request to stop
  /// calls is user code. w: the calling worker, or null.
  void stop(const list& tasks, sched::worker* w) noexcept {
    auto* const before = w != nullptr ? std::exchange(w->current, nullptr) : nullptr;  // it is nobody's work
    for (const auto& to : tasks) visitors_.stop(to, answers_);
    if (w != nullptr) w->current = before;
  }

  /// A run begins.
  void reset() noexcept { visitors_.forget_misses(); }

  // By the holder of the transport.

  /// A task has come, which is not queued yet, with a message of a size.
  void came(visitor& v, const return_address& to, std::size_t size) {
    if (visitors_.add(v, size > net::eager_limit / 2)) on_stop(to);
    if (v.moves == 1) return;  // its own rank has sent it
    const moved_head head{to, v.moves, 0};
    if (const int self = link_.transport().rank(); to.rank == self) {
      on_moved(self, head);
    } else {
      link_.send_head(to.rank, message::moved, head);
    }
  }
  void on_moved(int rank, const moved_head& head) {
    auto* who = slots_.find(head.to.slot);
    if (who == nullptr || !who->moved(rank, head.moves)) return;
    if (rank == link_.transport().rank()) {
      on_stop(head.to);
    } else {
      link_.send_head(rank, message::stop, head.to);
    }
  }
  /// Keeps it for stop.
  void on_stop(const return_address& to) { wanted_.push_back(to); }
  /// Moves what was kept behind `tasks`.
  void take(list& tasks) {
    if (tasks.empty()) return tasks.swap(wanted_);
    for (const auto& to : wanted_) tasks.push_back(to);
    wanted_.clear();
  }

 private:
  link& link_;
  replies& answers_;
  slot_table& slots_;
  visitors visitors_;
  list wanted_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
