// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

/// A named value of a row: a text, or a number with the digits that the table shows.
struct field {
  field(std::string field_name, std::string value) : name(std::move(field_name)), shown(std::move(value)) {
    json = '"' + shown + '"';  // names of variants and the like: nothing to escape
  }
  field(std::string field_name, double value, int digits) : name(std::move(field_name)) {
    shown = print("%.*f", digits, value);
    json = print("%.*g", 9, value);
  }
  field(std::string field_name, long value) : name(std::move(field_name)), shown(std::to_string(value)), json(shown) {}

  std::string name;
  std::string shown;
  std::string json;

 private:
  static std::string print(const char* format, int digits, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, digits, value);
    return text;
  }
};

/// Rows of figures on stdout: one table at the end, or one JSON object a line. All rows have the same field names.
class report {
 public:
  report(std::string benchmark, bool as_json) : benchmark_(std::move(benchmark)), json_(as_json) {}

  void add(std::vector<field> row) {
    if (json_) {
      std::printf("{\"benchmark\": \"%s\"", benchmark_.c_str());
      for (const field& f : row) std::printf(", \"%s\": %s", f.name.c_str(), f.json.c_str());
      std::printf("}\n");
    } else {
      rows_.push_back(std::move(row));
    }
  }

  /// A line below the table; not part of the JSON.
  void note(std::string text) { notes_.push_back(std::move(text)); }

  /// Prints the table. The first column is aligned to the left, the others to the right.
  void print() const {
    if (json_ || rows_.empty()) return;
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < rows_.front().size(); ++c) {
      std::size_t width = rows_.front()[c].name.size();
      for (const auto& row : rows_) width = std::max(width, row[c].shown.size());
      widths.push_back(width);
    }
    std::printf("%s  (%s)\n", benchmark_.c_str(), build().c_str());
    line(rows_.front(), widths, &field::name);
    for (const auto& row : rows_) line(row, widths, &field::shown);
    for (const std::string& text : notes_) std::printf("%s\n", text.c_str());
  }

  /// What the figures were made with.
  static std::string build() {
    std::string text;
#if defined(__clang__)
    text = "clang " + std::to_string(__clang_major__);
#elif defined(__GNUC__)
    text = "g++ " + std::to_string(__GNUC__);
#endif
#if !defined(__OPTIMIZE__)
    text += ", NOT OPTIMISED";
#endif
    return text + ", " + std::to_string(std::thread::hardware_concurrency()) + " cores";
  }

 private:
  static void line(const std::vector<field>& row, const std::vector<std::size_t>& widths, std::string field::*text) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::printf(c == 0 ? "  %-*s" : "  %*s", static_cast<int>(widths[c]), (row[c].*text).c_str());
    }
    std::printf("\n");
  }

  std::string benchmark_;
  bool json_;
  std::vector<std::vector<field>> rows_;
  std::vector<std::string> notes_;
};

}  // namespace bench
