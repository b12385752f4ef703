// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <new>

PLAIT_INTERFACE

namespace plait::base {

/// Memory of a given size that holds nothing yet, aligned to cache lines.
class block {
 public:
  block() noexcept = default;
  explicit block(std::size_t size)
      : bytes_(static_cast<std::byte*>(::operator new(size, std::align_val_t(alignment)))), size_(size) {}
  block(block&& other) noexcept : bytes_(other.bytes_), size_(other.size_) { static_cast<void>(other.release()); }
  block& operator=(block&& other) noexcept {
    auto* const bytes = bytes_;
    const auto size = size_;
    bytes_ = other.bytes_;
    size_ = other.size_;
    other.bytes_ = bytes;
    other.size_ = size;
    return *this;
  }
  ~block() { ::operator delete(bytes_, std::align_val_t(alignment)); }

  std::byte* data() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return size_; }
  /// Gives the memory up without freeing it.
  std::byte* release() noexcept {
    auto* const bytes = bytes_;
    bytes_ = nullptr;
    size_ = 0;
    return bytes;
  }

  static constexpr std::size_t alignment = 64;

 private:
  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace plait::base
