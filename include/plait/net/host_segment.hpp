// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/net/doorbell.hpp>
#include <plait/net/host.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <tuple>
#include <utility>

PLAIT_INTERFACE

namespace plait::net {

/// A name for a segment that nobody can guess and no two jobs share: 128 random bits.
struct segment_name {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// A fresh one; none where the system gives no random numbers. Needs no file, of which a process may have too many.
  static segment_name random() noexcept {
    segment_name name;
    if (::getentropy(&name, sizeof name) != 0) return {};
    return name;
  }

  /// Whether it is one.
  explicit operator bool() const noexcept { return (high | low) != 0; }

  /// As shm_open wants it.
  std::string text() const {
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "/plait-%016llx%016llx", static_cast<unsigned long long>(high),
                  static_cast<unsigned long long>(low));
    return buffer;
  }
};

/// Memory that ranks on one host share, so that a rank that sleeps is woken by the rank that sends it a frame.
/// Each rank has a slot, a cache line of its own: a doorbell, and the number of frames announced to it.
///
/// The leader creates it, the others open it; each proves that it sees the same memory by telling secret(), which lies
/// only there; then the leader removes the name, and the memory goes with the last process. Every failure (a full or
/// missing /dev/shm, another namespace) gives an empty segment and no exception: the rank does without.
class host_segment {
 public:
  /// Empty.
  host_segment() = default;
  host_segment(host_segment&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        slots_(std::exchange(other.slots_, 0)),
        name_(std::exchange(other.name_, {})) {}
  host_segment& operator=(host_segment&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(slots_, other.slots_);
    std::swap(name_, other.name_);
    return *this;
  }
  ~host_segment() {
    remove_name();
    if (memory_ != nullptr) ::munmap(memory_, bytes(slots_));
  }

  /// The leader's: makes memory for so many slots, readable by this user only. Empty if that fails.
  static host_segment create(const segment_name& name, int slots) {
    const segment_name drawn = segment_name::random();
    if (!name || !drawn) return {};
    const std::string text = name.text();
    const int file = ::shm_open(text.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return {};
    host_segment result;
    result.name_ = text;
    // ftruncate would succeed on a full file system, and the first touch would kill the process.
    if (::posix_fallocate(file, 0, static_cast<off_t>(bytes(slots))) == 0) result.map(file, slots);
    ::close(file);
    if (!result) return {};
    for (int slot = 0; slot < slots; ++slot) ::new (static_cast<void*>(result.line(slot))) slot_line;
    ::new (static_cast<void*>(result.first())) header;
    result.first()->secret.store((drawn.low >> 1) | 1);  // positive
    return result;
  }

  /// The others': opens what the leader made. Empty if that fails.
  static host_segment open(const segment_name& name, int slots) {
    const int file = ::shm_open(name.text().c_str(), O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return {};
    host_segment result;
    struct stat info {};
    if (::fstat(file, &info) == 0 && info.st_size == static_cast<off_t>(bytes(slots)) && info.st_uid == ::geteuid())
      result.map(file, slots);
    ::close(file);
    return result;
  }

  /// Removes the name, for the leader when all have opened it; also done by the destructor.
  void remove_name() noexcept {
    if (!name_.empty()) ::shm_unlink(name_.c_str());
    name_.clear();
  }

  /// Whether there is memory.
  explicit operator bool() const noexcept { return memory_ != nullptr; }
  /// How many slots there are.
  int slots() const noexcept { return slots_; }
  /// A positive number that only those who see this memory know.
  std::int64_t secret() const noexcept { return static_cast<std::int64_t>(first()->secret.load()); }

  /// Adds the cores that a rank may use to those of the others.
  void add_cores(const core_set& cores) noexcept {
    for (std::size_t i = 0; i < cores.size(); ++i) first()->cores[i].fetch_or(cores[i]);
  }
  /// The cores that ranks have added so far.
  core_set cores() const noexcept {
    core_set result{};
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = first()->cores[i].load();
    return result;
  }

  /// Counts a frame that was just sent to the rank of this slot, and wakes it if it sleeps.
  void announce(int slot) noexcept {
    line(slot)->announced.fetch_add(1);  // seq_cst, as ring_if_asleep demands
    line(slot)->bell.ring_if_asleep(base::futex_scope::shared);
  }
  /// Wakes the rank of this slot if it sleeps, without counting a frame: it has something to go on with.
  void nudge(int slot) noexcept { line(slot)->bell.ring_if_asleep(base::futex_scope::shared); }
  /// How many frames were announced to the rank of this slot. Wraps round.
  std::uint32_t announced(int slot) const noexcept { return line(slot)->announced.load(); }
  /// What the rank of this slot sleeps on.
  doorbell& bell(int slot) noexcept { return line(slot)->bell; }

 private:
  struct alignas(64) header {
    base::atomic<std::uint64_t> secret{0};
    base::atomic<std::uint64_t> cores[std::tuple_size_v<core_set>]{};
  };
  struct alignas(64) slot_line {
    doorbell bell;
    base::atomic<std::uint32_t> announced{0};
  };
  static_assert(base::atomic<std::uint64_t>::is_always_lock_free, "plait: shared memory needs lock-free words");

  static constexpr std::size_t bytes(int slots) noexcept {
    return sizeof(header) + static_cast<std::size_t>(slots) * sizeof(slot_line);
  }
  void map(int file, int slots) noexcept {
    void* const memory = ::mmap(nullptr, bytes(slots), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<std::byte*>(memory);
    slots_ = slots;
  }
  header* first() const noexcept { return std::launder(reinterpret_cast<header*>(memory_)); }
  slot_line* line(int slot) const noexcept {
    return std::launder(reinterpret_cast<slot_line*>(memory_ + sizeof(header))) + slot;
  }

  std::byte* memory_ = nullptr;
  int slots_ = 0;
  std::string name_;  // empty when there is nothing to remove
};

}  // namespace plait::net
