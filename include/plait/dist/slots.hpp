// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/dist/portable.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// What waits on this rank for results from others, by number. A number is used again only with another generation, so
/// a result that comes twice is noticed. Thread-safe.
class slot_table {
 public:
  std::uint64_t add(awaiting_reply& who) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(slots_.size() + 1);  // so that remove never allocates
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const auto index = free_.back();
    free_.pop_back();
    slots_[index].who = &who;
    return index | std::uint64_t{slots_[index].generation} << 32;
  }

  awaiting_reply& at(std::uint64_t slot) {
    const std::lock_guard lock(mutex_);
    return *used(slot).who;
  }

  void remove(std::uint64_t slot) {
    const std::lock_guard lock(mutex_);
    auto& s = used(slot);
    s.who = nullptr;
    ++s.generation;
    free_.push_back(static_cast<std::uint32_t>(slot));
  }

 private:
  struct entry {
    awaiting_reply* who = nullptr;
    std::uint32_t generation = 0;
  };

  entry& used(std::uint64_t slot) {
    const auto index = static_cast<std::uint32_t>(slot);
    if (index >= slots_.size() || slots_[index].who == nullptr || slots_[index].generation != slot >> 32) {
      throw error("plait: a result came for slot " + std::to_string(slot) +
                  ", where nothing waits: the message is damaged or came twice");
    }
    return slots_[index];
  }

  std::mutex mutex_;
  std::vector<entry> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
