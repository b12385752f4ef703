// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// The objects of rank_local variables on one rank, by the variable's identity. Thread-safe; a factory may ask for
/// another object.
class local_objects {
 public:
  /// The object for `key`, made by `make()` on first use; what that throws passes through, and the next use tries
  /// again. Throws plait::error if make(), or a task that it waits for in this thread, asks for the same object.
  void* get(const std::shared_ptr<const void>& key, const std::function<std::shared_ptr<void>()>& make) {
    auto& mine = object_of(key);
    const std::lock_guard lock(mine.mutex);
    if (!mine.value) {
      if (mine.being_made) {
        throw error(
            "plait: the factory of a rank_local asks for the object that it makes, or waits for a task that does");
      }
      const making scope(mine.being_made);
      mine.value = make();
    }
    return mine.value.get();
  }

 private:
  struct object {
    std::recursive_mutex mutex;
    std::shared_ptr<void> value;
    bool being_made = false;
  };
  struct making {
    explicit making(bool& f) noexcept : flag(f) { flag = true; }
    ~making() { flag = false; }
    making(const making&) = delete;
    making& operator=(const making&) = delete;
    bool& flag;
  };

  object& object_of(const std::shared_ptr<const void>& key) {
    const std::lock_guard lock(mutex_);
    return objects_[key];  // its address stays
  }

  std::mutex mutex_;
  std::unordered_map<std::shared_ptr<const void>, object> objects_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
