// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/box.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/growing_array.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// An object of any type, and how it ends.
struct any_object {
  void* object = nullptr;
  void (*destroy)(void*) noexcept = nullptr;
};

/// The objects of rank_local variables on one rank, by the variable's number. Thread-safe; a factory may ask for
/// another object.
class local_objects {
 public:
  /// The variable of what ends with each run: see replicate.hpp.
  static constexpr std::uint64_t of_run = 0;

  /// How many runs have ended: the same number on all ranks in a run.
  std::uint64_t runs() const noexcept { return runs_; }
  /// A run has ended on all ranks.
  void run_ended() noexcept {
    ++runs_;
    if (entries_.empty() || entries_[0]->variable != of_run) return;
    entries_.erase(0);
  }

  /// A number that no other variable of the process has.
  static std::uint64_t new_variable() noexcept { return ++last_variable; }

  /// The object of a variable, made by `make()` on first use; what that throws passes through, and the next use tries
  /// again. Throws plait::error if make(), or a task that it waits for in this thread, asks for the same object.
  void* get(std::uint64_t variable, function_ref<any_object()> make) {
    auto& mine = entry_of(variable);
    const std::lock_guard lock(mine.mutex);
    if (mine.value.object == nullptr) {
      if (mine.being_made) {
        throw error(
            "plait: the factory of a rank_local asks for the object that it makes, or waits for a task that does");
      }
      const making scope(mine.being_made);
      mine.value = make();
    }
    return mine.value.object;
  }

 private:
  PLAIT_EXPORT static inline constinit base::atomic<std::uint64_t> last_variable{0};

  struct entry {
    explicit entry(std::uint64_t v) noexcept : variable(v) {}
    ~entry() {
      if (value.object != nullptr) value.destroy(value.object);
    }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

    const std::uint64_t variable;
    std::recursive_mutex mutex;
    any_object value;
    bool being_made = false;
  };
  struct making {
    explicit making(bool& f) noexcept : flag(f) { flag = true; }
    ~making() { flag = false; }
    making(const making&) = delete;
    making& operator=(const making&) = delete;
    bool& flag;
  };

  entry& entry_of(std::uint64_t variable) {
    const std::lock_guard lock(mutex_);
    std::size_t at = 0;
    for (std::size_t end = entries_.size(); at < end;) {
      const auto middle = at + (end - at) / 2;
      if (entries_[middle]->variable < variable) {
        at = middle + 1;
      } else {
        end = middle;
      }
    }
    if (at < entries_.size() && entries_[at]->variable == variable) return *entries_[at];
    entries_.push_back(base::box<entry>(new entry(variable)));
    for (auto i = entries_.size() - 1; i > at; --i) std::swap(entries_[i], entries_[i - 1]);
    return *entries_[at];
  }

  std::uint64_t runs_ = 0;  // written between runs
  std::mutex mutex_;
  base::growing_array<base::box<entry>> entries_;  // in the order of the variables
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
