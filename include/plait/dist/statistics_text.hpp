// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/statistics.hpp>
#include <plait/report/json_text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

// Statistics as a table for people and as JSON.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

using report::append_format;
using report::append_json;
using report::shown_name;

/// A time in a width of seven: 12.3 us.
inline std::string shown_time(double seconds) {
  std::string text;
  const char* unit = " s";
  double value = seconds;
  if (seconds < 1e-6) {
    unit = "ns", value = seconds * 1e9;
  } else if (seconds < 1e-3) {
    unit = "us", value = seconds * 1e6;
  } else if (seconds < 1) {
    unit = "ms", value = seconds * 1e3;
  }
  append_format(text, value < 9.995 ? "%5.2f %s" : value < 99.95 ? "%5.1f %s" : "%5.0f %s", value, unit);
  return text;
}

using shown_number = unsigned long long;

inline void append_worker(std::string& out, const char* who, const worker_statistics& w, double seconds) {
  const double percent = seconds > 0 ? 100 / seconds : 0;
  append_format(out, "plait: %-11s %10llu %10llu %10llu %10llu %10llu %10llu %6.1f %6.1f %6.1f %6.1f\n", who,
                shown_number{w.forked}, shown_number{w.spawned}, shown_number{w.submitted}, shown_number{w.executed},
                shown_number{w.imported}, shown_number{w.stolen}, w.busy * percent, w.searching * percent,
                w.idle * percent, w.communication * percent);
}

/// Calls `use` with each number of a worker and the same one of another.
template <class Use>
void with_each(worker_statistics& a, const worker_statistics& b, Use use) {
  use(a.forked, b.forked);
  use(a.spawned, b.spawned);
  use(a.submitted, b.submitted);
  use(a.executed, b.executed);
  use(a.imported, b.imported);
  use(a.stolen, b.stolen);
  use(a.busy, b.busy);
  use(a.searching, b.searching);
  use(a.idle, b.idle);
  use(a.communication, b.communication);
}

inline void append_workers(std::string& out, const statistics& s) {
  out +=
      "plait: worker rank     forked    spawned  submitted   executed   imported     stolen  busy% search%  idle% "
      "comm.%\n";
  worker_statistics total, least, most;
  for (std::size_t i = 0; i < s.workers.size(); ++i) {
    const auto& w = s.workers[i];
    char who[32];
    std::snprintf(who, sizeof who, "%6d %4d", w.worker, w.rank);
    append_worker(out, who, w, s.seconds);
    with_each(total, w, [](auto& a, auto b) { a += b; });
    if (i == 0) least = most = w;
    with_each(least, w, [](auto& a, auto b) { a = b < a ? b : a; });
    with_each(most, w, [](auto& a, auto b) { a = a < b ? b : a; });
  }
  const auto count = static_cast<double>(s.workers.empty() ? 1 : s.workers.size());
  append_worker(out, "total", total, s.seconds * count);
  append_worker(out, "least", least, s.seconds);
  append_worker(out, "most", most, s.seconds);
  if (total.busy > 0)
    append_format(out, "plait: imbalance %.2f: the busiest worker's time of the mean\n",
                  most.busy * count / total.busy);
}

}  // namespace dist

inline std::string statistics::table() const {
  std::string out;
  dist::append_format(out, "plait: %zu ranks, %zu workers, %.6f s\n", ranks.size(), workers.size(), seconds);
  dist::append_workers(out, *this);
  out += "plait: rank   messages        bytes      given      taken  frames MiB  peak MiB  host\n";
  for (const auto& r : ranks) {
    dist::append_format(out, "plait: %4d %10llu %12llu %10llu %10llu %11.1f %9.1f  ", r.rank,
                        dist::shown_number{r.messages}, dist::shown_number{r.bytes}, dist::shown_number{r.given},
                        dist::shown_number{r.taken}, static_cast<double>(r.frame_memory) / 1048576,
                        static_cast<double>(r.peak_memory) / 1048576);
    out += dist::shown_name(r.host, 64) + "\n";
  }
  if (tasks.empty()) return out;
  out += "plait:      count    total     mean      p50      p99      max  task\n";
  constexpr std::size_t most_shown = 40;
  for (std::size_t i = 0; i < tasks.size() && i < most_shown; ++i) {
    const auto& t = tasks[i];
    dist::append_format(out, "plait: %10llu", dist::shown_number{t.count});
    for (const double time : {t.total, t.mean(), t.quantile(0.5), t.quantile(0.99), t.max})
      out += " " + dist::shown_time(time);
    out += "  " + dist::shown_name(t.name, 80) + "\n";
  }
  if (tasks.size() > most_shown) dist::append_format(out, "plait: and %zu other names\n", tasks.size() - most_shown);
  return out;
}

inline std::string statistics::json() const {
  std::string out;
  dist::append_format(out, "{\"seconds\": %.9f, \"workers\": [", seconds);
  const char* between = "";
  for (const auto& w : workers) {
    dist::append_format(
        out,
        "%s\n  {\"worker\": %d, \"rank\": %d, \"forked\": %llu, \"spawned\": %llu, \"submitted\": %llu, "
        "\"executed\": %llu, \"imported\": %llu, \"stolen\": %llu, \"busy\": %.9f, "
        "\"searching\": %.9f, \"idle\": %.9f, \"communication\": %.9f}",
        between, w.worker, w.rank, dist::shown_number{w.forked}, dist::shown_number{w.spawned},
        dist::shown_number{w.submitted}, dist::shown_number{w.executed}, dist::shown_number{w.imported},
        dist::shown_number{w.stolen}, w.busy, w.searching, w.idle, w.communication);
    between = ",";
  }
  out += "],\n \"ranks\": [";
  between = "";
  for (const auto& r : ranks) {
    dist::append_format(out,
                        "%s\n  {\"rank\": %d, \"messages\": %llu, \"bytes\": %llu, \"given\": %llu, \"taken\": %llu, "
                        "\"frame_memory\": %llu, \"peak_memory\": %llu, \"host\": ",
                        between, r.rank, dist::shown_number{r.messages}, dist::shown_number{r.bytes},
                        dist::shown_number{r.given}, dist::shown_number{r.taken}, dist::shown_number{r.frame_memory},
                        dist::shown_number{r.peak_memory});
    dist::append_json(out, r.host);
    out += "}";
    between = ",";
  }
  out += "],\n \"tasks\": [";
  between = "";
  for (const auto& t : tasks) {
    dist::append_format(out,
                        "%s\n  {\"count\": %llu, \"total\": %.9f, \"mean\": %.9f, \"p50\": %.9f, \"p99\": %.9f, "
                        "\"max\": %.9f, \"name\": ",
                        between, dist::shown_number{t.count}, t.total, t.mean(), t.quantile(0.5), t.quantile(0.99),
                        t.max);
    dist::append_json(out, t.name);
    out += "}";
    between = ",";
  }
  out += "]}\n";
  return out;
}

}  // namespace PLAIT_DIST
}  // namespace plait
