// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

PLAIT_INTERFACE

namespace plait::base {

/// Owns an object made by new, or none. std::unique_ptr in a handful of functions, so that it compiles quickly.
template <class T>
class box {
 public:
  PLAIT_ALWAYS_INLINE box() noexcept {}
  PLAIT_ALWAYS_INLINE explicit box(T* owned) noexcept : object_(owned) {}
  PLAIT_ALWAYS_INLINE box(box&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  PLAIT_ALWAYS_INLINE box& operator=(box&& other) noexcept {
    auto* const object = object_;
    object_ = other.object_;
    other.object_ = object;
    return *this;
  }
  ~box() { delete object_; }

  /// Ends the object now. It can still be seen through the box while its destructor runs.
  PLAIT_ALWAYS_INLINE void reset() noexcept {
    delete object_;
    object_ = nullptr;
  }
  PLAIT_ALWAYS_INLINE T* get() const noexcept { return object_; }
  PLAIT_ALWAYS_INLINE T& operator*() const noexcept { return *object_; }
  PLAIT_ALWAYS_INLINE T* operator->() const noexcept { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace plait::base
