// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/obs/trace_ring.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// One rank's part of a trace: a file that the rank has mapped, so that what was written is there also after a kill.

PLAIT_INTERFACE

namespace plait::report {

/// How a part begins. Then follow a ring head for each worker, the names, and the rings.
struct trace_part_head {
  char magic[8];
  std::uint32_t version;
  std::uint32_t workers;
  std::int32_t rank;
  std::int32_t first_worker;   ///< the number of the first one over all ranks
  std::uint64_t ring_records;  ///< of each worker
  std::uint32_t names_capacity;
  std::uint32_t names_used;
  std::int64_t clock_offset;  ///< to be added to this rank's times to get rank 0's
  std::int64_t origin;        ///< rank 0's time that is shown as 0
  char host[72];
};
static_assert(sizeof(trace_part_head) == 128);

inline constexpr char trace_magic[8] = {'p', 'l', 'a', 'i', 't', 't', 'r', 'c'};
inline constexpr std::uint32_t trace_version = 1;
inline constexpr std::uint32_t trace_names_capacity = 1 << 20;

/// A part in memory, whoever has put it there.
class trace_part_view {
 public:
  trace_part_view() noexcept {}
  trace_part_view(std::byte* first, std::size_t size) noexcept : first_(first), size_(size) {}

  static std::size_t size_of(std::uint64_t workers, std::uint64_t ring_records, std::uint64_t names) noexcept {
    return sizeof(trace_part_head) + workers * sizeof(obs::trace_ring_head) + names +
           workers * ring_records * sizeof(obs::trace_record);
  }

  trace_part_head& head() const noexcept { return *reinterpret_cast<trace_part_head*>(first_); }
  obs::trace_ring_head& ring(std::uint32_t worker) const noexcept {
    return reinterpret_cast<obs::trace_ring_head*>(first_ + sizeof(trace_part_head))[worker];
  }
  char* names() const noexcept { return reinterpret_cast<char*>(&ring(head().workers)); }
  obs::trace_record* records(std::uint32_t worker) const noexcept {
    return reinterpret_cast<obs::trace_record*>(names() + head().names_capacity) + worker * head().ring_records;
  }
  std::byte* data() const noexcept { return first_; }
  std::size_t size() const noexcept { return size_; }

  /// Whether it is a part, and whole: what it says about itself fits its size.
  bool is_sound() const noexcept {
    if (size_ < sizeof(trace_part_head)) return false;
    const auto& h = head();
    const bool known = std::memcmp(h.magic, trace_magic, sizeof trace_magic) == 0 && h.version == trace_version;
    const bool plausible = h.workers >= 1 && h.workers <= 65536 && h.ring_records >= 1 &&
                           h.ring_records <= (std::uint64_t{1} << 32) && (h.ring_records & (h.ring_records - 1)) == 0 &&
                           h.names_used <= h.names_capacity && h.names_capacity <= (1u << 30) &&
                           h.names_capacity % 64 == 0;
    return known && plausible && size_ == size_of(h.workers, h.ring_records, h.names_capacity);
  }

  /// The name that a record refers to; none where it is damaged.
  std::string_view name(std::uint32_t place) const noexcept {
    std::uint32_t length = 0;
    const auto used = head().names_used;
    if (place == 0 || place - 1 > used || used - (place - 1) < sizeof length) return {};
    std::memcpy(&length, names() + place - 1, sizeof length);
    if (length > used - (place - 1) - sizeof length) return {};
    return {names() + place - 1 + sizeof length, length};
  }

 protected:
  std::byte* first_ = nullptr;
  std::size_t size_ = 0;
};

/// A part as a file of this rank. Made at its full size, of which only what is written takes space on the disk.
class trace_part_file : public trace_part_view {
 public:
  /// Throws plait::error where the file can't be made.
  trace_part_file(std::string name, std::uint32_t workers, std::uint64_t ring_records) : name_(std::move(name)) {
    size_ = size_of(workers, ring_records, trace_names_capacity);
    const int file = ::open(name_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    void* memory = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, static_cast<off_t>(size_)) == 0)
      memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const int problem = errno;
    if (file >= 0) ::close(file);
    if (memory == MAP_FAILED) {
      throw error(base::compose({"plait: the file ", name_, " for a rank's part of the trace could not be made: ",
                                 std::string_view(std::strerror(problem))}));
    }
    first_ = static_cast<std::byte*>(memory);
    std::memcpy(head().magic, trace_magic, sizeof trace_magic);
    head().version = trace_version;
    head().workers = workers;
    head().ring_records = ring_records;
    head().names_capacity = trace_names_capacity;
  }
  trace_part_file(const trace_part_file&) = delete;
  trace_part_file& operator=(const trace_part_file&) = delete;
  ~trace_part_file() { ::munmap(first_, size_); }

  /// The file is not needed any more.
  void remove() noexcept { ::unlink(name_.c_str()); }

 private:
  std::string name_;
};

}  // namespace plait::report
