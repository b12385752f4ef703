// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/wire/writer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

PLAIT_INTERFACE

namespace plait::wire {

template <class Reader>
class basic_input_archive;
class reader;
/// The archive type for which user types' serialize and load are instantiated when they arrive.
using input_archive = basic_input_archive<reader>;

/// Reads what a writer wrote. Every access is checked against what is left: a message that is too short, or that holds
/// values which cannot be, throws plait::error. The bytes must outlive the reader. One thread at a time.
class reader {
 public:
  /// Reads `bytes` from their beginning.
  explicit reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;

  /// Copies the next `size` bytes to `to`.
  void read(void* to, std::size_t size) {
    const auto from = take(size);
    if (size != 0) std::memcpy(to, from.data(), size);
  }

  /// The next `size` bytes where they lie, for as long as the message lives.
  std::span<const std::byte> take(std::size_t size) {
    if (size > remaining()) throw_short(size);
    const auto bytes = bytes_.subspan(position_, size);
    position_ += size;
    return bytes;
  }

  /// A number of elements that take at least `least` bytes each (0: unchecked). More than can be left is an error, so
  /// what is allocated for them is bounded by the size of the message.
  std::size_t read_size(std::size_t least = 1) {
    std::uint64_t size = 0;
    std::uint8_t small = 0;
    read(&small, 1);
    if (small == writer::large_size) {
      read(&size, sizeof size);
    } else {
      size = small;
    }
    if (least != 0 && size > remaining() / least) throw_large(size, least);
    return static_cast<std::size_t>(size);
  }

  /// Bytes not yet read.
  std::size_t remaining() const noexcept { return bytes_.size() - position_; }
  /// Bytes read so far.
  std::size_t position() const noexcept { return position_; }
  /// Throws plait::error unless everything has been read.
  void expect_end() const {
    if (remaining() != 0) fail(base::compose({"has ", remaining(), " bytes more than its values take"}));
  }
  /// Throws plait::error that says where in the message something was wrong.
  [[noreturn]] void fail(const std::string& problem) const {
    throw error(base::compose({"plait: a message of ", bytes_.size(), " bytes ", problem, " (at byte ", position_,
                               "); it is damaged, or the ranks run different builds"}));
  }

 private:
  friend struct archive_access;

  [[noreturn]] PLAIT_NOINLINE void throw_short(std::size_t wanted) const {
    fail(base::compose({"ends where ", wanted, " more bytes are expected"}));
  }
  [[noreturn]] PLAIT_NOINLINE void throw_large(std::uint64_t count, std::size_t least) const {
    fail(base::compose(
        {"announces ", count, " elements of ", least, " or more bytes, but ", remaining(), " bytes are left"}));
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  input_archive* archive_ = nullptr;  // while a value with user-defined parts is being decoded
};

}  // namespace plait::wire
