// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdio>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

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

/// How many processors the CPU quota of the control group comes to, rounded up; 0 if there is none.
inline unsigned quota_processors() noexcept {
  double quota = 0, period = 0, unused = 0;
  if (read_numbers("/sys/fs/cgroup/cpu.max", quota, period) < 2 &&  // without a quota it starts with "max"
      (read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota, unused) < 1 ||
       read_numbers("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, unused) < 1)) {
    return 0;
  }
  if (!(quota > 0) || !(period > 0) || quota / period > 1e6) return 0;
  const auto whole = static_cast<unsigned>(quota / period);
  return whole * period < quota ? whole + 1 : whole;
}

}  // namespace detail

/// How many processors the machine has.
inline unsigned online_processors() noexcept {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

/// How many processors the process may use at once: the smaller of its affinity mask and the CPU quota of its control
/// group (cgroup v2 cpu.max or v1 cfs_quota_us, rounded up). At least 1.
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

/// Where the running thread's stack ends (its lowest address), or null if the system does not tell.
inline char* stack_floor() noexcept {
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
