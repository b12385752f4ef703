// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Command-line options of a benchmark: `--json`, `--name value`. Ask for each one once, then call done().
/// Every member but the constructor throws std::invalid_argument, with a text for the user.
class arguments {
 public:
  arguments(int argc, char** argv) : words_(argv + 1, argv + argc) {}

  /// True if `name` was given.
  bool flag(std::string_view name) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != name) continue;
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  /// The word after `name`, or `otherwise`.
  std::string text(std::string_view name, std::string otherwise) {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != name) continue;
      if (i + 1 == words_.size()) throw std::invalid_argument("a value must follow " + words_[i]);
      std::string value = words_[i + 1];
      const auto at = words_.begin() + static_cast<std::ptrdiff_t>(i);
      words_.erase(at, at + 2);
      return value;
    }
    return otherwise;
  }

  /// The positive number after `name`, or `otherwise`.
  int number(std::string_view name, int otherwise) {
    const std::string given = text(name, std::to_string(otherwise));
    char* end = nullptr;
    const long value = std::strtol(given.c_str(), &end, 10);
    if (given.empty() || *end != '\0' || value < 1 || value > 1'000'000'000) {
      throw std::invalid_argument(std::string(name) + " takes a positive number, not '" + given + "'");
    }
    return static_cast<int>(value);
  }

  /// Complains about what nobody asked for. `usage` names the options that exist.
  void done(std::string_view usage) const {
    if (!words_.empty()) {
      throw std::invalid_argument("unknown option '" + words_.front() + "'; options: " + std::string(usage));
    }
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace bench
