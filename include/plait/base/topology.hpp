// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace plait::base {

/// How many processors the process may use at once: the smaller of its affinity mask and the CPU quota of its control group
/// (cgroup v2 cpu.max or v1 cfs_quota_us, rounded up). At least 1.
inline unsigned usable_processors() {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) count = static_cast<unsigned>(std::max(1, CPU_COUNT(&mask)));
  double quota = 0, period = 0;
  std::string text;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> text >> period) {
    if (text != "max") quota = std::stod(text);
  } else if (std::ifstream q("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), p("/sys/fs/cgroup/cpu/cpu.cfs_period_us"); !(q >> quota && p >> period)) {
    quota = 0;
  }
  if (quota > 0 && period > 0) count = std::min(count, std::max(1u, static_cast<unsigned>((quota + period - 1) / period)));
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
