// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>
#include <plait/base/mutex.hpp>
#include <plait/obs/watcher.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

PLAIT_INTERFACE

namespace plait::obs {

/// The names in the traces of one rank's workers: one after another in memory that other processes may read, each after
/// its length. Any thread.
class trace_names {
 public:
  trace_names() noexcept {}
  /// used: the bytes that are taken, for readers.
  void place(char* area, std::uint32_t capacity, std::uint32_t* used) noexcept {
    area_ = area;
    capacity_ = capacity;
    used_ = used;
  }

  /// Where the name begins, and one more; 0 where there is no room.
  std::uint32_t of(const task_name& name) noexcept {
    const std::lock_guard lock(mutex_);
    for (const auto& e : entries_) {
      if (e.find_out != name.find_out) continue;
      if (name.find_out != nullptr ? e.key == name.key : text_at(e.place) == name.own) return e.place;
    }
    try {
      entries_.reserve(entries_.size() + 1);
      const auto place = name.find_out != nullptr ? append(name.find_out(name.key)) : append(name.own);
      if (place != 0) entries_.push_back({name.key, name.find_out, place});
      return place;
    } catch (...) {  // no memory
      return 0;
    }
  }

 private:
  struct entry {
    const void* key;
    base::text (*find_out)(const void*);
    std::uint32_t place;
  };

  std::string_view text_at(std::uint32_t place) const noexcept {
    std::uint32_t length = 0;
    std::memcpy(&length, area_ + place - 1, sizeof length);
    return {area_ + place - 1 + sizeof length, length};
  }

  std::uint32_t append(std::string_view text) noexcept {
    const auto length = static_cast<std::uint32_t>(text.size());
    const auto at = *used_;
    if (text.size() > capacity_ || capacity_ - at < sizeof length + length) return 0;
    std::memcpy(area_ + at, &length, sizeof length);
    std::memcpy(area_ + at + sizeof length, text.data(), length);
    *used_ = at + static_cast<std::uint32_t>(sizeof length) + length;
    return at + 1;
  }

  base::mutex mutex_;
  base::growing_array<entry> entries_;
  char* area_ = nullptr;
  std::uint32_t capacity_ = 0;
  std::uint32_t* used_ = nullptr;
};

}  // namespace plait::obs
