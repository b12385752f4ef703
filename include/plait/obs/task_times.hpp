// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/text.hpp>
#include <plait/obs/histogram.hpp>
#include <plait/obs/watcher.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

PLAIT_INTERFACE

namespace plait::obs {

/// The times of one worker's tasks, by name. The worker adds, any thread may read. Of names that come after the first
/// thousand, and where there is no memory, all are counted together.
class task_times {
 public:
  task_times() noexcept {}
  task_times(const task_times&) = delete;
  task_times& operator=(const task_times&) = delete;
  ~task_times() {
    for (auto& s : slots_) delete s.load(std::memory_order_relaxed);  // nobody else is left
  }

  void add(const task_name& name, std::uint64_t nanoseconds) noexcept { of(name).add(nanoseconds); }

  /// Any thread: each name, and its times.
  void for_each(function_ref<void(std::string_view name, const time_counts&)> use) const {
    for (auto& s : slots_) {
      const auto* found = s.load(std::memory_order_acquire);  // partner: of
      if (found == nullptr) continue;
      if (found->find_out != nullptr) {
        use(found->find_out(found->key), found->times);
      } else {
        use(found->own, found->times);
      }
    }
    if (others_.count.read() != 0) use("(others)", others_);
  }

 private:
  static constexpr std::size_t most_names = 1000, slots = 2048;

  struct named_times {
    explicit named_times(const task_name& name) : key(name.key), find_out(name.find_out), own(name.own) {}
    bool is_of(const task_name& name) const noexcept {
      return find_out == name.find_out && (find_out != nullptr ? key == name.key : own == name.own);
    }
    const void* key;
    base::text (*find_out)(const void*);
    base::text own;
    time_counts times;
  };

  static std::size_t hash(const task_name& name) noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;  // FNV-1a
    if (name.find_out != nullptr) {
      h = (h ^ reinterpret_cast<std::uintptr_t>(name.key)) * 0x9e3779b97f4a7c15u;
    } else {
      for (const char c : name.own) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
    return static_cast<std::size_t>(h >> 32);
  }

  time_counts& of(const task_name& name) noexcept {
    for (std::size_t i = hash(name);; ++i) {
      auto& slot = slots_[i % slots];
      auto* there = slot.load(std::memory_order_relaxed);  // this thread has written it
      if (there != nullptr && there->is_of(name)) return there->times;
      if (there != nullptr) continue;
      if (names_ == most_names) return others_;
      try {
        there = new named_times(name);
      } catch (...) {
        return others_;
      }
      ++names_;
      slot.store(there, std::memory_order_release);  // partner: for_each
      return there->times;
    }
  }

  base::atomic<named_times*> slots_[slots]{};
  std::size_t names_ = 0;
  time_counts others_;
};

}  // namespace plait::obs
