// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>

#include <cstddef>
#include <cstdint>

PLAIT_INTERFACE

namespace plait::base {

/// Numbers by keys that are numbers other than 0: what this library needs of std::unordered_map, in so few functions
/// that a program that includes it compiles quickly. Open addressing, linear probing (Knuth, TAOCP 3, 6.4, algorithm R
/// for what is erased).
class number_map {
 public:
  /// Null where the key is not there. Valid until the next change.
  std::uint64_t* find(std::uint64_t key) noexcept {
    if (slots_.empty()) return nullptr;
    auto& s = slots_[place_of(key)];
    return s.key == key ? &s.value : nullptr;
  }
  /// Throws std::bad_alloc, and nothing has changed then.
  void set(std::uint64_t key, std::uint64_t value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    auto& s = slots_[place_of(key)];
    if (s.key == 0) ++count_;
    s = {key, value};
  }
  void erase(std::uint64_t key) noexcept {
    if (find(key) == nullptr) return;
    auto hole = place_of(key);
    --count_;
    for (auto i = next(hole);; i = next(i)) {
      if (slots_[i].key == 0) break;
      const auto home = home_of(slots_[i].key);
      const bool stays = hole <= i ? hole < home && home <= i : hole < home || home <= i;
      if (stays) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }
  std::size_t size() const noexcept { return count_; }

 private:
  struct slot {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
  };

  std::size_t home_of(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }
  /// Where the key lies, or would.
  std::size_t place_of(std::uint64_t key) const noexcept {
    auto i = home_of(key);
    while (slots_[i].key != 0 && slots_[i].key != key) i = next(i);
    return i;
  }
  void grow() {
    growing_array<slot> before;
    before.resize(slots_.size() < 16 ? 32 : 2 * slots_.size());
    before.swap(slots_);
    for (const auto& s : before) {
      if (s.key != 0) slots_[place_of(s.key)] = s;
    }
  }

  growing_array<slot> slots_;  // a power of two of them, or none
  std::size_t count_ = 0;
};

}  // namespace plait::base
