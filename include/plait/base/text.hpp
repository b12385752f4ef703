// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

PLAIT_INTERFACE

namespace plait::base {

/// A text that grows at its end: what the messages of this library need of std::string, in so few functions that a
/// program that includes it compiles quickly.
class text {
 public:
  text() noexcept = default;
  text(std::string_view all) { append(all.data(), all.size()); }
  text(text&& other) noexcept : first_(other.first_), size_(other.size_) {
    other.first_ = nullptr;
    other.size_ = 0;
  }
  text& operator=(text&&) = delete;
  ~text() { std::free(first_); }

  /// Appends so many characters. If there is no memory for them, std::bad_alloc, and nothing has changed.
  void append(const char* characters, std::size_t count) {
    auto* const larger = static_cast<char*>(std::realloc(first_, size_ + count + 1));
    if (larger == nullptr) throw std::bad_alloc();
    first_ = larger;
    if (count != 0) std::memcpy(first_ + size_, characters, count);
    size_ += count;
    first_[size_] = 0;
  }
  /// Leaves no more than the first `size` characters.
  void truncate(std::size_t size) noexcept {
    if (size >= size_) return;
    size_ = size;
    first_[size_] = 0;
  }

  const char* c_str() const noexcept { return first_ != nullptr ? first_ : ""; }
  std::size_t size() const noexcept { return size_; }
  operator std::string_view() const noexcept { return std::string_view(c_str(), size_); }
  friend bool operator==(const text& a, std::string_view b) noexcept { return std::string_view(a) == b; }

 private:
  char* first_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace plait::base
