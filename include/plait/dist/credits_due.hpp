// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/fixed_array.hpp>
#include <plait/dist/credits.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// What a rank owes to others whose tasks have left their queues here. Any thread.
class credits_due {
 public:
  /// l must outlive it.
  explicit credits_due(link& l)
      : link_(l), due_(static_cast<std::size_t>(l.transport().size()), [](void* at, std::size_t) {
          ::new (at) base::atomic<std::uint64_t>(0);
        }) {}

  /// A task that counts so much has left its queue: gives back once there is enough.
  void give_back(int rank, std::uint64_t cost) noexcept {
    auto& due = due_[static_cast<std::size_t>(rank)];
    // relaxed, all: a sum; a message carries it away
    if (due.fetch_add(cost, std::memory_order_relaxed) + cost < credit::batch) return;
    const credit_head head{due.exchange(0, std::memory_order_relaxed)};
    if (head.cost == 0) return;
    try {
      link_.send(rank, message::credit, [&head](wire::writer& out) { out.write(&head, sizeof head); });
    } catch (...) {  // no memory for the message: the next one carries it
      due.fetch_add(head.cost, std::memory_order_relaxed);
    }
  }

 private:
  link& link_;
  base::fixed_array<base::atomic<std::uint64_t>> due_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
