// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/wire/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

PLAIT_INTERFACE

namespace plait::wire {

/// What stands before each message in a frame. Sixteen bytes; the payload follows, padded to a multiple of eight.
struct message_header {
  /// Bytes of the payload, without padding.
  std::uint64_t length;
  /// The run that the message belongs to.
  std::uint32_t epoch;
  /// What the message is; the layer above numbers them.
  std::uint16_t kind;
  /// Always message_header::good; a frame out of step shows by it.
  std::uint16_t mark;

  static constexpr std::uint16_t good = 0x7A17;
};
static_assert(sizeof(message_header) == 16);

/// Appends messages to a frame that outlives it. One thread at a time.
class frame_builder {
 public:
  /// Appends to `frame`, which may hold messages already. It has its exact size after flush() or the builder's end.
  template <class Allocator>
  explicit frame_builder(std::vector<std::byte, Allocator>& frame) : out_(frame) {}

  /// Appends a message whose payload `fill(writer&)` writes. If it throws, the frame is as before.
  void add(std::uint16_t kind, std::uint32_t epoch, function_ref<void(writer&)> fill) {
    const std::size_t start = out_.size();
    message_header header{0, epoch, kind, message_header::good};
    try {
      out_.write(&header, sizeof header);
      fill(out_);
      header.length = out_.size() - start - sizeof header;
      out_.patch(start, &header, sizeof header);
      const std::byte zeroes[alignment] = {};
      out_.write(zeroes, (alignment - header.length % alignment) % alignment);
    } catch (...) {
      out_.truncate(start);
      throw;
    }
    ++messages_;
  }
  /// Appends a message with the given payload.
  void add(std::uint16_t kind, std::uint32_t epoch, std::span<const std::byte> payload) {
    add(kind, epoch, [payload](writer& out) { out.write(payload.data(), payload.size()); });
  }

  /// Bytes appended by this builder.
  std::size_t size() const noexcept { return out_.size(); }
  /// Messages appended by this builder.
  std::size_t messages() const noexcept { return messages_; }
  /// Gives the frame its exact size.
  void flush() { out_.flush(); }

  /// Payloads start at multiples of this from the frame's beginning.
  static constexpr std::size_t alignment = 8;

 private:
  writer out_;
  std::size_t messages_ = 0;
};

/// Called with kind, epoch and payload of a message; the payload lies in the frame.
using message_handler = function_ref<void(std::uint16_t, std::uint32_t, std::span<const std::byte>)>;

/// Calls `handle` for each message of a frame, in order. Throws plait::error where the frame is damaged; the messages
/// before that place have been handled then. Returns the number of messages.
inline std::size_t for_each_message(std::span<const std::byte> frame, message_handler handle) {
  std::size_t messages = 0;
  std::size_t at = 0;
  const auto damaged = [&](const char* problem) {
    throw error(base::compose({"plait: a frame of ", frame.size(), " bytes is damaged at byte ", at, ": ", problem}));
  };
  while (at != frame.size()) {
    message_header header;
    if (frame.size() - at < sizeof header) damaged("it ends within a message header");
    std::memcpy(&header, frame.data() + at, sizeof header);
    if (header.mark != message_header::good) damaged("there is no message header");
    at += sizeof header;
    if (header.length > frame.size() - at) damaged("a message is longer than the frame");
    const auto length = static_cast<std::size_t>(header.length);
    const std::size_t padding =
        (frame_builder::alignment - length % frame_builder::alignment) % frame_builder::alignment;
    if (padding > frame.size() - at - length) damaged("the padding of a message is missing");
    handle(header.kind, header.epoch, frame.subspan(at, length));
    at += length + padding;
    ++messages;
  }
  return messages;
}

}  // namespace plait::wire
