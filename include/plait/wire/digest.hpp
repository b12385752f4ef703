// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

PLAIT_INTERFACE

namespace plait::wire {

/// 128 bits that differ if the digested bytes differ, by any accident. No protection against people who want a
/// collision.
struct digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const digest&, const digest&) = default;

  /// 32 hexadecimal digits.
  std::string text() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::uint64_t half : {high, low}) {
      for (int shift = 60; shift >= 0; shift -= 4) out += digits[(half >> shift) & 15];
    }
    return out;
  }
};

/// Digests pieces of bytes; the cuts between the pieces count too.
class digester {
 public:
  /// Takes in a piece.
  void add(std::span<const std::byte> piece) noexcept {
    mix(piece.size());
    std::uint64_t word = 0;
    while (piece.size() >= sizeof word) {
      std::memcpy(&word, piece.data(), sizeof word);
      mix(word);
      piece = piece.subspan(sizeof word);
    }
    if (!piece.empty()) {
      word = 0;
      std::memcpy(&word, piece.data(), piece.size());
      mix(word);
    }
  }
  /// Takes in a text.
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }
  /// The digest of the pieces so far.
  digest result() const noexcept { return {scramble(high_ ^ low_ * 3), scramble(low_ ^ high_ * 5)}; }

 private:
  static std::uint64_t scramble(std::uint64_t x) noexcept {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93U;
    x ^= x >> 29;
    x *= 0xcaf649a9c3b1f6d5U;
    return x ^ (x >> 32);
  }
  // Two chains with different multipliers, each a bijection of its state for a given word.
  void mix(std::uint64_t word) noexcept {
    high_ = (high_ ^ word) * 0x9fb21c651e98df25U;
    high_ ^= high_ >> 35;
    low_ = (low_ + word) * 0xa0761d6478bd642fU;
    low_ ^= low_ >> 31;
  }

  std::uint64_t high_ = 0x6c62272e07bb0142U;
  std::uint64_t low_ = 0x62b821756295c58dU;
};

}  // namespace plait::wire
