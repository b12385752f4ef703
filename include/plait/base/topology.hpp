// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/simulator.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

PLAIT_INTERFACE

namespace plait::base {

namespace detail {

/// Up to two numbers at the start of a text file; how many there were.
inline int read_numbers(const char* path, double& first, double& second) noexcept {
  auto* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  const int found = std::fscanf(file, "%lf %lf", &first, &second);
  std::fclose(file);
  return found < 0 ? 0 : found;
}

/// A control group: where the system shows the tree that it is in, and its path there, which need not end in a zero.
struct control_group {
  const char* mount;
  const char* below;  ///< the mount: a directory
  const char* path;
  std::size_t length;
  bool unified;  ///< of cgroup v2

  /// How many processors its quota comes to; 0 if it has none.
  double quota() const noexcept {
    double quota = 0, period = 0, unused = 0;
    if (unified) {
      if (read("cpu.max", quota, period) < 2) return 0;  // without one it says "max"
    } else if (read("cpu.cfs_quota_us", quota, unused) < 1 || read("cpu.cfs_period_us", period, unused) < 1) {
      return 0;
    }
    return quota > 0 && period > 0 ? quota / period : 0;
  }

  int read(const char* file, double& first, double& second) const noexcept {
    char name[4096];
    const int size =
        std::snprintf(name, sizeof name, "%s%s%.*s/%s", mount, below, static_cast<int>(length), path, file);
    return size > 0 && size < static_cast<int>(sizeof name) ? read_numbers(name, first, second) : 0;
  }
};

/// The smaller of two quotas, of which 0 is none.
inline double smaller_quota(double a, double b) noexcept { return b > 0 && (a == 0 || b < a) ? b : a; }

/// The smallest quota of a control group and of those that it is part of.
inline double smallest_quota(control_group group) noexcept {
  double smallest = 0;
  while (group.length > 0 && group.path[group.length - 1] == '/') --group.length;
  for (;;) {
    smallest = smaller_quota(smallest, group.quota());
    if (group.length == 0) return smallest;
    do --group.length;
    while (group.length > 0 && group.path[group.length] != '/');
  }
}

/// Whether a list with commas has the controller.
inline bool has_controller(const char* list, const char* end, const char* name) noexcept {
  for (const std::size_t length = std::strlen(name); list < end;) {
    const auto* comma = static_cast<const char*>(std::memchr(list, ',', static_cast<std::size_t>(end - list)));
    if (comma == nullptr) comma = end;
    if (static_cast<std::size_t>(comma - list) == length && std::memcmp(list, name, length) == 0) return true;
    list = comma + 1;
  }
  return false;
}

/// How many processors the CPU quota of the process's control groups comes to, rounded up; 0 if there is none.
/// mount, membership: where the system tells of them. In a container the path that `membership` says may be that of the
/// host, which is not there: then the mount itself has the container's quota.
inline unsigned quota_processors(const char* mount = "/sys/fs/cgroup",
                                 const char* membership = "/proc/self/cgroup") noexcept {
  double smallest =
      smaller_quota(smallest_quota({mount, "", "", 0, true}), smallest_quota({mount, "/cpu", "", 0, false}));
  if (auto* file = std::fopen(membership, "re")) {
    char line[4096];
    while (std::fgets(line, sizeof line, file) != nullptr) {  // number:controllers:group
      const auto* first = std::strchr(line, ':');
      const auto* second = first != nullptr ? std::strchr(first + 1, ':') : nullptr;
      if (second == nullptr) continue;
      const auto length = std::strcspn(second + 1, "\n");
      if (second == first + 1) {
        smallest = smaller_quota(smallest, smallest_quota({mount, "", second + 1, length, true}));
      } else if (has_controller(first + 1, second, "cpu")) {
        smallest = smaller_quota(smallest, smallest_quota({mount, "/cpu", second + 1, length, false}));
      }
    }
    std::fclose(file);
  }
  if (smallest == 0 || smallest > 1e6) return 0;
  const auto whole = static_cast<unsigned>(smallest);
  return whole < smallest ? whole + 1 : whole;
}

}  // namespace detail

/// How many processors the machine has.
inline unsigned online_processors() noexcept {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

/// How many processors the process may use at once: the smaller of its affinity mask and the CPU quota of its control
/// groups (cgroup v2 cpu.max or v1 cfs_quota_us, rounded up). At least 1.
inline unsigned usable_processors() noexcept {
  unsigned count = online_processors();
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0)
    count = static_cast<unsigned>(CPU_COUNT(&mask));
  const unsigned quota = detail::quota_processors();
  if (quota != 0 && quota < count) count = quota;
#endif
  return count;
}

/// The calling thread, one of as many as there are processors that it may use, goes to the one with its number, and may
/// use all again from then on. Each then has a processor to come back to: the system puts a thread that is woken where
/// it ran last, and two that it has once put together may share a processor for milliseconds.
inline void start_apart([[maybe_unused]] unsigned number, [[maybe_unused]] unsigned of) noexcept {
#if defined(__linux__)
  cpu_set_t all;
  if (this_simulator() != nullptr || sched_getaffinity(0, sizeof all, &all) != 0) return;
  if (static_cast<unsigned>(CPU_COUNT(&all)) != of) return;
  int processor = -1;
  for (unsigned found = 0; found <= number && ++processor < CPU_SETSIZE;) found += CPU_ISSET(processor, &all) ? 1u : 0u;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(processor, &own);
  if (sched_setaffinity(0, sizeof own, &own) == 0) sched_setaffinity(0, sizeof all, &all);
#endif
}

/// Where the running thread's stack ends (its lowest address), or null if the system does not tell.
inline char* stack_floor() noexcept {
  if (const auto* s = this_simulator()) return s->stack_floor();
#if defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* lowest = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return static_cast<char*>(lowest);
#else
  return nullptr;
#endif
}

}  // namespace plait::base
