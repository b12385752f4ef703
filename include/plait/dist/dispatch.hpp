// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/placement.hpp>
#include <plait/dist/portable.hpp>
#include <plait/dist/stealable.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Puts submitted tasks where they have been found to belong: into a queue of this rank, or on the wire.
class dispatch {
 public:
  /// All must outlive it. home: whose tasks they are.
  dispatch(node& home, plait::pool& p, link& l, const wire::registry_ids& ids, stealable& tasks) noexcept
      : home_(home), pool_(p), link_(l), ids_(ids), tasks_(tasks) {}

  /// Queues a task on this rank. local_worker: for those that name a worker. w: the calling worker, or null.
  void queue(portable* task, place kind, int local_worker, sched::worker* w) {
    if (kind == place::here || kind == place::on_rank) return pool_.post(task);
    if (kind == place::on_worker) {
      task->only_worker = local_worker;
      return pool_.post_to(static_cast<unsigned>(local_worker), task);
    }
    if (kind == place::prefer_worker && (w == nullptr || w->index() != static_cast<unsigned>(local_worker))) {
      auto& target = pool_.at(static_cast<unsigned>(local_worker));
      target.placed.push(task);
      pool_.parking().wake(target.bed);
    } else if (w != nullptr) {
      w->submitted.push(task);
    } else {
      tasks_.arrive(task);
    }
    pool_.parking().notify();
  }

  /// Whether tasks with such a place are subject to flow control: the others come when somebody asks for them.
  static constexpr bool counts(place kind) noexcept { return kind != place::anywhere; }

  /// Packs a claimed task and sends it away. Throws what packing throws; the task then stays. Returns how many bytes
  /// it has become.
  std::size_t ship(portable* task, int target, place kind, int local_worker) {
    task_head head{task->address(home_),
                   task->self.started,
                   0,
                   local_worker,
                   static_cast<std::uint8_t>(kind),
                   static_cast<const run_context*>(task->self.context)->in_spmd,
                   {},
                   task->moves + 1};
    std::size_t bytes = 0;
    std::vector<std::byte> apart;
    try {
      const bool beforehand = task->packs_by_user_code();
      if (beforehand) apart = wire::written([task](wire::writer& out) { task->pack(out); });
      head.callable = ids_.id_of(*task->callable);
      const auto write = [&](wire::writer& out) {
        const auto before = out.size();
        out.write(&head, sizeof head);
        if (beforehand) {
          out.write(apart.data(), apart.size());
        } else {
          task->pack(out);
        }
        bytes = out.size() - before;
      };
      link_.send(target, message::task, write, counts(kind));
    } catch (...) {
      task->stays(home_);
      throw;
    }
    if (const auto* w = sched::worker::of_this_thread(); w != nullptr && w->watched() != nullptr)
      w->watched()->left(&task->self, flow_of(head.to));
    task->left(target);
    return bytes;
  }

 private:
  node& home_;
  plait::pool& pool_;
  link& link_;
  const wire::registry_ids& ids_;
  stealable& tasks_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
