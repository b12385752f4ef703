// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/dist/one_setting.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// How a runtime works. Each member has an environment variable, which a member that was set overrules. Times in
/// seconds.
struct options {
  int workers = 0;               ///< of this rank; PLAIT_WORKERS; 0: the host's processors shared out among its ranks
  int stealing = -1;             ///< between ranks: 1 on, 0 off; PLAIT_STEALING; -1: on
  double server_yieldtime = -1;  ///< PLAIT_SERVER_YIELDTIME: how long messages may wait for busy workers; 0.001
  double worker_yieldtime =
      -1;  ///< PLAIT_WORKER_YIELDTIME: how long an idle worker looks around before it sleeps; 0: adaptive
  double stall_warn =
      -1;  ///< PLAIT_STALL_WARN: seconds without any progress after which a line on stderr says so; 30, 0: never
  /// PLAIT_STATS: 1 prints a table of what workers, ranks and tasks did at the end of each run, 2 only counts for
  /// runtime::statistics.
  int stats = -1;
  const char* trace = nullptr;       ///< PLAIT_TRACE: the file where a trace goes at the end; rank 0's counts
  const char* graph = nullptr;       ///< PLAIT_GRAPH: the file where the graph of tasks goes; rank 0's counts
  int trace_ring = 0;                ///< PLAIT_TRACE_RING: records that are kept of each worker, 32 bytes each; 65,536
  const char* stats_file = nullptr;  ///< PLAIT_STATS=NAME.json: where statistics of the last run go as JSON
  /// What a runtime does that is destroyed by an exception other than run's: it waits this long for the others and then
  /// prints why and calls MPI_Abort. Seconds; negative: 2.
  double abort_after = -1;
};

namespace dist {

[[noreturn]] inline void refuse_variable(const char* name, const char* text, const char* accepted) {
  throw error(base::compose({"plait: the environment variable ", name, " is '", text, "'; accepted is ", accepted}));
}

/// The value of a variable that holds a number from `least` to `most`, or `otherwise` where it is not set.
inline double number_from_environment(const char* name, double least, double most, double otherwise,
                                      const char* accepted) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  errno = 0;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || errno != 0 || !(value >= least && value <= most)) {
    refuse_variable(name, text, accepted);
  }
  return value;
}

constexpr int most_workers = 1024;
constexpr double a_year = 3.2e7;  // in seconds

inline int workers_from_environment(const char* name, int otherwise) {
  constexpr const char* accepted = "a whole number from 1 to 1024";
  const double value = number_from_environment(name, 1, most_workers, otherwise, accepted);
  const int whole = static_cast<int>(value);
  if (value != whole) refuse_variable(name, std::getenv(name), accepted);
  return whole;
}

inline bool switch_from_environment(const char* name, bool otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view value = text;
  if (value == "1" || value == "on" || value == "true" || value == "yes") return true;
  if (value == "0" || value == "off" || value == "false" || value == "no") return false;
  refuse_variable(name, text,
                  std::string_view(name) == "PLAIT_STATS"
                      ? "1, 0, on, off, true, false, yes, no, 2 or a name that ends with .json"
                      : "1, 0, on, off, true, false, yes or no");
}

/// A time of the options: `member` if it was set, or what the variable says, or `otherwise`.
inline double seconds_of(double member, const char* name, double otherwise) {
  if (member < 0) member = number_from_environment(name, 0, a_year, otherwise, "a number of seconds, at least 0");
  if (!(member >= 0 && member <= a_year)) {
    throw error(base::compose({"plait: the option that ", name, " stands for is ", std::to_string(member),
                               "; it must be a number of seconds, at least 0 and at most a year"}));
  }
  return member;
}
inline double stall_warn_of(const options& o) { return seconds_of(o.stall_warn, "PLAIT_STALL_WARN", 30); }

/// Options with every member filled in, from the environment where it was left open. workers may still be 0.
inline options resolve(options o) {
  if (o.workers == 0) o.workers = workers_from_environment("PLAIT_WORKERS", 0);
  if (o.workers < 0 || o.workers > most_workers) {
    throw error(
        base::compose({"plait: options.workers is ", o.workers, "; possible are 1 to 1024, or 0 for the default"}));
  }
  if (o.stealing < 0) o.stealing = switch_from_environment("PLAIT_STEALING", true) ? 1 : 0;
  const char* const statistics = std::getenv("PLAIT_STATS");
  if (o.stats < 0 && o.stats_file == nullptr && statistics != nullptr &&
      std::string_view(statistics).ends_with(".json"))
    o.stats_file = statistics;
  if (o.stats < 0 && o.stats_file == nullptr) {
    o.stats = statistics != nullptr && std::string_view(statistics) == "2" ? 2
              : switch_from_environment("PLAIT_STATS", false)              ? 1
                                                                           : 0;
  }
  if (o.stats < 0) o.stats = 1;
  if (o.trace == nullptr) o.trace = std::getenv("PLAIT_TRACE");
  if (o.trace != nullptr && *o.trace == 0) o.trace = nullptr;
  if (o.graph == nullptr) o.graph = std::getenv("PLAIT_GRAPH");
  if (o.graph != nullptr && *o.graph == 0) o.graph = nullptr;
  if (o.trace_ring <= 0) {
    o.trace_ring = static_cast<int>(
        number_from_environment("PLAIT_TRACE_RING", 16, 1 << 28, 65536, "a number of records from 16 to 268435456"));
  }
  o.server_yieldtime = seconds_of(o.server_yieldtime, "PLAIT_SERVER_YIELDTIME", 0.001);
  o.worker_yieldtime = seconds_of(o.worker_yieldtime, "PLAIT_WORKER_YIELDTIME", 0);
  o.stall_warn = stall_warn_of(o);
  if (!(o.abort_after >= 0)) o.abort_after = 2;
  if (o.abort_after > a_year) o.abort_after = a_year;
  return o;
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
