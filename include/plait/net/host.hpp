// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/topology.hpp>

#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sched.h>
#endif

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

PLAIT_INTERFACE

namespace plait::net {

/// The name of this host, as the system has it.
inline std::string this_host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

/// Numbers that tell whether two processes can share memory.
struct host_identity {
  std::uint64_t host = 0;           ///< equal on one machine: of its name and the id of its last boot
  std::uint64_t shared_memory = 0;  ///< equal if also the same file system holds shared memory (containers may differ)

  /// Of this process.
  static host_identity current() {
    host_identity result;
    result.host = hash(this_host_name(), start);
    if (auto* boot = std::fopen("/proc/sys/kernel/random/boot_id", "r"); boot != nullptr) {
      char id[64] = {};
      if (std::fgets(id, sizeof id, boot) != nullptr) result.host = hash(id, result.host);
      std::fclose(boot);
    }
    struct stat where {};
    if (::stat("/dev/shm", &where) != 0) where.st_dev = 0;
    result.shared_memory = hash({reinterpret_cast<const char*>(&where.st_dev), sizeof where.st_dev}, result.host);
    return result;
  }

 private:
  static constexpr std::uint64_t start = 0xcbf29ce484222325U;
  static std::uint64_t hash(std::string_view text, std::uint64_t value) noexcept {  // FNV-1a
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return value;
  }
};

/// A set of cores, by their number; those from 1024 on are left out.
using core_set = std::array<std::uint64_t, 16>;

/// The cores that this process may use, as its launcher set them; all zero if the system does not tell.
inline core_set allowed_cores() noexcept {
  core_set cores{};
#if defined(__linux__)
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (std::size_t core = 0; core < 1024 && core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &mask)) cores[core / 64] |= std::uint64_t{1} << (core % 64);
#endif
  return cores;
}

/// How many cores a set has; for the empty one, what the machine has.
inline int count_cores(const core_set& cores) noexcept {
  int count = 0;
  for (const std::uint64_t word : cores) count += __builtin_popcountll(word);
  return count > 0 ? count : static_cast<int>(base::online_processors());
}

}  // namespace plait::net
