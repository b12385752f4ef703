// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

PLAIT_INTERFACE

namespace plait::net {

/// How frames look as MPI messages. A frame of up to `eager_limit` bytes is one message under `eager_tag`. Of a larger
/// one that tag carries an announcement of 16 bytes, a fixed word and the size, and its bytes follow in chunks under
/// `body_tag`. A small frame that looks like an announcement is sent as a large one, so that there is no doubt.
/// Two tags serve for ever, and no count exceeds an int.
struct mpi_protocol {
  static constexpr int eager_tag = 1;
  static constexpr int body_tag = 2;
  static constexpr std::size_t announcement_size = 16;
  /// The largest message. So small that a transfer that moves is seen to move: only the ends of messages are visible,
  /// and a rank polls eagerly as long as it sees some.
  static constexpr std::size_t chunk_limit = std::size_t{8} << 20;

  /// Whether a frame travels as one message.
  static bool is_eager(std::span<const std::byte> bytes) noexcept {
    return bytes.size() <= eager_limit && !announced_size(bytes);
  }

  /// Makes the announcement of a frame of so many bytes.
  static void write_announcement(frame& out, std::uint64_t size) {
    out.resize(announcement_size);
    std::memcpy(out.data(), &mark, sizeof mark);
    std::memcpy(out.data() + sizeof mark, &size, sizeof size);
  }

  /// The size that an announcement tells; nothing if the message is not one.
  static std::optional<std::uint64_t> announced_size(std::span<const std::byte> message) noexcept {
    if (message.size() != announcement_size || std::memcmp(message.data(), &mark, sizeof mark) != 0) return {};
    std::uint64_t size = 0;
    std::memcpy(&size, message.data() + sizeof mark, sizeof size);
    return size;
  }

  /// In how many chunks a body travels.
  static constexpr std::size_t chunks(std::size_t size, std::size_t chunk) noexcept {
    return size / chunk + (size % chunk != 0 ? 1 : 0);
  }

 private:
  static constexpr std::uint64_t mark = 0x91c3'5fd2'7a0e'b864U;
};

}  // namespace plait::net
