// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

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
  /// again.
  void* get(const std::shared_ptr<const void>& key, const std::function<std::shared_ptr<void>()>& make) {
    const std::lock_guard lock(mutex_);
    auto& object = objects_[key];
    if (!object) object = make();
    return object.get();
  }

 private:
  std::recursive_mutex mutex_;
  std::unordered_map<std::shared_ptr<const void>, std::shared_ptr<void>> objects_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
