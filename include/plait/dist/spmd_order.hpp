// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/portable.hpp>

#include <cstdint>
#include <map>
#include <utility>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The order of spmd bodies on one rank: as rank 0 has numbered them, one after another. Who holds it provides the lock.
class spmd_order {
 public:
  /// On rank 0: the number of the next call.
  std::uint64_t next_number() noexcept { return numbered_++; }

  /// A body has come; large ones may overtake small ones.
  void add(std::uint64_t number, portable* body) { waiting_.emplace(number, body); }

  /// The body that may start now, or null.
  portable* take() {
    const auto first = waiting_.begin();
    if (running_ || first == waiting_.end() || first->first != next_) return nullptr;
    running_ = true;
    ++next_;
    auto* body = first->second;
    waiting_.erase(first);
    return body;
  }

  void ended() noexcept { running_ = false; }

 private:
  std::uint64_t numbered_ = 0;
  std::uint64_t next_ = 0;
  bool running_ = false;
  std::map<std::uint64_t, portable*> waiting_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
