// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "statistics.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

/// What one run took.
struct cost {
  double seconds;      ///< of the timed part
  double cpu_seconds;  ///< of all threads, those that were started for it included
  double peak_mib;     ///< most memory that the process has had at once, its program included
};

namespace detail {

inline double cpu_seconds(const rusage& used) {
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

template <class Run>
cost measure(Run&& run, int warm_ups) {
  while (warm_ups-- > 0) run();
  cost value{};
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  value.seconds = run();
  getrusage(RUSAGE_SELF, &after);
  value.cpu_seconds = cpu_seconds(after) - cpu_seconds(before);
  value.peak_mib = static_cast<double>(after.ru_maxrss) / 1024;
  return value;
}

}  // namespace detail

/// What `make` gives, which must be trivially copyable, from a call in a process of its own, whose memory, threads and
/// caches nothing else has used. The calling process must have one thread only. Throws std::runtime_error with what
/// `make` has thrown.
template <class Make>
auto from_child(Make&& make) {
  struct answer {  // in one write that a pipe takes whole
    decltype(make()) value;
    char error[400];  ///< empty if there was none
  };
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to a child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) {
    answer told{};
    try {
      told.value = make();
    } catch (const std::exception& e) {
      const std::string_view text(e.what());
      std::memcpy(told.error, text.data(), std::min(text.size(), sizeof told.error - 1));
      if (text.empty()) told.error[0] = '?';
    }
    _exit(write(ends[1], &told, sizeof told) == static_cast<ssize_t>(sizeof told) ? 0 : 1);
  }
  close(ends[1]);
  answer told{};
  const bool whole = read(ends[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole) {
    throw std::runtime_error(WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                                 : "ended without a result");
  }
  if (told.error[0] != '\0') throw std::runtime_error(told.error);
  return told.value;
}

/// The cost of `run`, which gives the seconds that it took, in a process of its own; it runs `warm_ups` times before,
/// unmeasured.
template <class Run>
cost in_child(Run&& run, int warm_ups) {
  return from_child([&] { return detail::measure(run, warm_ups); });
}

}  // namespace bench
