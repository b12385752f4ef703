// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

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

/// How many processors the quota in a control group's directory comes to; 0 if there is none. unified: of cgroup v2.
inline double quota_in(const std::string& directory, bool unified) {
  double quota = 0, period = 0, unused = 0;
  if (unified) {
    if (read_numbers((directory + "/cpu.max").c_str(), quota, period) < 2) return 0;  // without one it says "max"
  } else if (read_numbers((directory + "/cpu.cfs_quota_us").c_str(), quota, unused) < 1 ||
             read_numbers((directory + "/cpu.cfs_period_us").c_str(), period, unused) < 1) {
    return 0;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The smallest quota of a control group and of those that it is part of.
inline double smallest_quota(const std::string& mount, std::string group, bool unified) {
  double smallest = 0;
  while (!group.empty() && group.back() == '/') group.pop_back();
  for (;;) {
    const double quota = quota_in(mount + group, unified);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    if (group.empty()) return smallest;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

/// How many processors the CPU quota of the process's control groups comes to, rounded up; 0 if there is none.
/// mount, membership: where the system tells of them. In a container the path that `membership` says may be that of the
/// host, which is not there: then the mount itself has the container's quota.
inline unsigned quota_processors(const std::string& mount = "/sys/fs/cgroup",
                                 const char* membership = "/proc/self/cgroup") {
  double smallest = 0;
  const auto look = [&](const std::string& where, const std::string& group, bool unified) {
    const double quota = smallest_quota(where, group, unified);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
  };
  look(mount, "", true);
  look(mount + "/cpu", "", false);
  if (auto* file = std::fopen(membership, "re")) {
    char line[4096];
    while (std::fgets(line, sizeof line, file) != nullptr) {  // number:controllers:group
      const std::string text(line, std::strcspn(line, "\n"));
      const auto first = text.find(':'), second = text.find(':', first + 1);
      if (first == std::string::npos || second == std::string::npos) continue;
      const auto controllers = ',' + text.substr(first + 1, second - first - 1) + ',';
      if (controllers == ",,") look(mount, text.substr(second + 1), true);
      if (controllers.find(",cpu,") != std::string::npos) look(mount + "/cpu", text.substr(second + 1), false);
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
