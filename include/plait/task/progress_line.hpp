// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/text.hpp>

#include <cstddef>
#include <cstdio>
#include <string_view>

// The texts of a progress bar, from its numbers.

PLAIT_INTERFACE

namespace plait::detail {

/// How far something has come.
struct progress_state {
  std::string_view label;
  std::size_t done;
  std::size_t total;  ///< 0: nobody knows
  double seconds;     ///< since the beginning
};

/// 7.5 s, 1:05 or 2:03:05.
inline base::text duration_text(double seconds) {
  char digits[32];
  if (seconds < 9.95) {
    std::snprintf(digits, sizeof digits, "%.1f s", seconds);
    return std::string_view(digits);
  }
  constexpr double most = 99.0 * 24 * 3600;  // nobody waits for longer
  const auto whole = static_cast<unsigned long>((seconds < most ? seconds : most) + 0.5);
  const auto hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours != 0) {
    std::snprintf(digits, sizeof digits, "%lu:%02lu:%02lu", hours, minutes, rest);
  } else if (minutes != 0) {
    std::snprintf(digits, sizeof digits, "%lu:%02lu", minutes, rest);
  } else {
    std::snprintf(digits, sizeof digits, "%lu s", rest);
  }
  return std::string_view(digits);
}

/// 120/s, 1.5/s, or where it is slower 12 s each.
inline base::text rate_text(const progress_state& s) {
  const double rate = s.seconds > 0 ? static_cast<double>(s.done) / s.seconds : 0;
  if (s.done == 0 || !(rate > 0)) return std::string_view("-/s");
  if (rate < 1) return base::compose_text({duration_text(1 / rate), " each"});
  char digits[32];
  std::snprintf(digits, sizeof digits, rate < 9.95 ? "%.1f/s" : "%.0f/s", rate);
  return std::string_view(digits);
}

/// What is left, or how long all has taken.
inline base::text time_text(const progress_state& s) {
  if (s.total == 0 || s.done >= s.total) return base::compose_text({"in ", duration_text(s.seconds)});
  if (s.done == 0) return std::string_view("- left");
  const double left = s.seconds / static_cast<double>(s.done) * static_cast<double>(s.total - s.done);
  return base::compose_text({duration_text(left), " left"});
}

/// The label as it can stand in a line: without control characters.
inline base::text label_text(std::string_view label) {
  base::text all;
  for (const char c : label) {
    const auto code = static_cast<unsigned char>(c);
    const char shown = code < 0x20 || code == 0x7f ? ' ' : c;
    all.append(&shown, 1);
  }
  if (!label.empty()) all.append(": ", 2);
  return all;
}

/// "label: 450 of 1000 (45 %), 120/s, 4.6 s left"
inline base::text progress_line(const progress_state& s) {
  auto all = base::compose_text({label_text(s.label), s.done});
  if (s.total != 0) base::compose_onto(all, {" of ", s.total, " (", s.done * 100 / s.total, " %)"});
  base::compose_onto(all, {", ", rate_text(s), ", ", time_text(s)});
  return all;
}

/// "label:  45 % [#########          ] 450/1000, 120/s, 4.6 s left", in a line of so many columns, of which it leaves
/// the last one free. Where there is no room for the bar: without it.
inline base::text progress_bar_line(const progress_state& s, std::size_t columns) {
  if (s.total == 0) return progress_line(s);
  const auto part = s.done < s.total ? s.done : s.total;
  const auto before = base::compose_text({label_text(s.label), part * 100 / s.total, " % ["});
  const auto after = base::compose_text({"] ", s.done, "/", s.total, ", ", rate_text(s), ", ", time_text(s)});
  constexpr std::size_t least = 8;
  if (before.size() + after.size() + least >= columns) {
    auto all = progress_line(s);
    if (columns > 1) all.truncate(columns - 1);
    return all;
  }
  const auto room = columns - 1 - before.size() - after.size();
  const auto filled =
      static_cast<std::size_t>(static_cast<double>(part) / static_cast<double>(s.total) * static_cast<double>(room));
  auto all = base::compose_text({before});
  for (std::size_t i = 0; i < room; ++i) all.append(i < filled ? "#" : " ", 1);
  base::compose_onto(all, {after});
  return all;
}

}  // namespace plait::detail
