// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

PLAIT_INTERFACE

namespace plait::wire {

template <class Writer>
class basic_output_archive;
class writer;
/// The archive type for which user types' serialize and save are instantiated when they leave.
using output_archive = basic_output_archive<writer>;

/// Appends values as bytes to a vector that outlives it. While the writer lives, the vector may be longer than what was
/// written; it has its exact size after flush() or the end of the writer, and must not be touched by others before.
/// One thread at a time. Numbers are stored as the machine has them: all ranks of a job run on one architecture.
class writer {
 public:
  /// Appends to `out`, with any allocator. What `out` held before stays in front and is not counted in size().
  template <class Allocator>
  explicit writer(std::vector<std::byte, Allocator>& out)
      : out_(&out), grow_(&grow<Allocator>), data_(out.data()), begin_(out.size()), end_(begin_), limit_(begin_) {}

  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() {
    if (limit_ != end_) flush();  // shrinks, so it does not throw
  }

  /// Appends `size` bytes, in one copy.
  void write(const void* bytes, std::size_t size) {
    if (size <= limit_ - end_) {
      if (size != 0) std::memcpy(data_ + end_, bytes, size);
      end_ += size;
    } else {
      append_slow(bytes, size);
    }
  }

  /// Appends a number of elements or bytes: one byte if it is small, else nine.
  void write_size(std::uint64_t size) {
    if (size < large_size) {
      const auto small = static_cast<std::uint8_t>(size);
      write(&small, 1);
    } else {
      const std::uint8_t mark = large_size;
      write(&mark, 1);
      write(&size, sizeof size);
    }
  }

  /// The number of bytes written by this writer.
  std::size_t size() const noexcept { return end_ - begin_; }

  /// Overwrites bytes that were written before; `offset` counts as size() does. For lengths known only afterwards.
  void patch(std::size_t offset, const void* bytes, std::size_t size) {
    if (offset > this->size() || size > this->size() - offset)
      throw error("plait: a patch lies outside of what was written");
    std::memcpy(data_ + begin_ + offset, bytes, size);
  }

  /// Forgets what was written after the first `size` bytes; used when an encoding fails half-way.
  void truncate(std::size_t size) noexcept {
    if (size < this->size()) end_ = begin_ + size;
  }

  /// Gives the vector its exact size. Writing may go on afterwards.
  void flush() {
    data_ = grow_(out_, end_, end_, nullptr, 0);
    limit_ = end_;
  }

  /// The byte that says that a nine-byte size follows.
  static constexpr std::uint8_t large_size = 0xFF;

 private:
  friend struct archive_access;

  // Makes the vector `length` bytes long, keeping the first `used`, then appends the given bytes.
  using grow_function = std::byte* (*)(void* out, std::size_t used, std::size_t length, const void* bytes,
                                       std::size_t size);

  template <class Allocator>
  static std::byte* grow(void* out, std::size_t used, std::size_t length, const void* bytes, std::size_t size) {
    auto& vector = *static_cast<std::vector<std::byte, Allocator>*>(out);
    if (size != 0) {
      vector.resize(used);
      const auto* first = static_cast<const std::byte*>(bytes);
      vector.insert(vector.end(), first, first + size);  // no zeroes are written first, whatever the allocator
    } else {
      vector.resize(length);
    }
    return vector.data();
  }

  void append_slow(const void* bytes, std::size_t size) {
    if (size < slack) {
      data_ = grow_(out_, end_, end_ + size + slack, nullptr, 0);
      limit_ = end_ + size + slack;
      std::memcpy(data_ + end_, bytes, size);
    } else {
      data_ = grow_(out_, end_, 0, bytes, size);
      limit_ = end_ + size;
    }
    end_ += size;
  }

  static constexpr std::size_t slack = 256;

  void* out_;
  grow_function grow_;
  std::byte* data_;
  std::size_t begin_;
  std::size_t end_;
  std::size_t limit_;                  // the vector's present size
  output_archive* archive_ = nullptr;  // while a value with user-defined parts is being encoded
};

/// What fill(writer&) writes, in memory of its own: for what calls functions of the program's, which must not run while
/// a lock is held, before it goes into a message.
template <class Fill>
std::vector<std::byte> written(Fill&& fill) {
  std::vector<std::byte> bytes;
  writer out(bytes);
  fill(out);
  out.flush();
  return bytes;
}

}  // namespace plait::wire
