// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

// Texts of any bytes in JSON and in tables.

PLAIT_INTERFACE

namespace plait::report {

/// How many bytes the UTF-8 sequence at the beginning of a text has; 0 if there is none (Unicode 15, table 3-7).
inline std::size_t utf8_length(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0), second = at(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool odd = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f);
    return follows(1) && follows(2) && !odd ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool odd = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return follows(1) && follows(2) && follows(3) && !odd ? 4 : 0;
  }
  return 0;
}

/// Appends a string of JSON that means the text. What is no UTF-8 becomes U+FFFD; it may stand in a script of HTML.
inline void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const char c = text.front();
    const auto length = utf8_length(text);
    if (length == 0) {
      out += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      out += code;
    } else {
      out.append(text.data(), length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

/// The beginning of a name as it can stand in a line of a table: at most `most` characters, none that controls a
/// terminal.
inline std::string shown_name(std::string_view name, std::size_t most) {
  std::string shown;
  std::size_t characters = 0;
  for (; !name.empty() && characters < most; ++characters) {
    const auto length = utf8_length(name);
    const auto c = static_cast<unsigned char>(name.front());
    if (length == 0 || (length == 1 && (c < 0x20 || c == 0x7f))) {
      shown += '?';
    } else {
      shown.append(name.data(), length);
    }
    name.remove_prefix(length == 0 ? 1 : length);
  }
  if (!name.empty()) shown += "...";
  return shown;
}

/// Appends what printf would print.
template <class... A>
void append_format(std::string& out, const char* format, A... values) {
  char line[512];
  const int size = std::snprintf(line, sizeof line, format, values...);
  if (size > 0)
    out.append(line, static_cast<std::size_t>(size) < sizeof line ? static_cast<std::size_t>(size) : sizeof line - 1);
}

}  // namespace plait::report
