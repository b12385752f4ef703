// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace pipeline {

namespace detail {

/// Name and parent of a process, from Linux's /proc; parent 0 where there is none.
struct process_entry {
  std::string name;
  long parent = 0;

  explicit process_entry(long id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');  // the name itself may hold parentheses
    if (open == std::string::npos || close == std::string::npos || close + 4 > text.size()) return;
    name = text.substr(open + 1, close - open - 1);
    parent = std::strtol(text.c_str() + close + 4, nullptr, 10);  // ") S parent"
  }
};

inline bool is_launcher(std::string_view name) {
  static constexpr std::array<std::string_view, 5> starts = {"mpirun", "mpiexec", "hydra_", "orterun", "prterun"};
  for (const std::string_view start : starts) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

inline bool stderr_is_terminal(long process) {
  std::array<char, 64> target = {};
  const std::string link = "/proc/" + std::to_string(process) + "/fd/2";
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length <= 0) return false;
  const std::string_view path(target.data(), static_cast<std::size_t>(length));
  return path.starts_with("/dev/pts/") || path.starts_with("/dev/tty");
}

}  // namespace detail

/// Whether someone watches what this process writes to stderr: it is a terminal, or it is a pipe to an MPI launcher on
/// this machine that copies it to a terminal. Under mpirun a process itself never sees one.
inline bool stderr_is_watched() {
  if (::isatty(STDERR_FILENO) == 1) return true;
  long process = ::getppid();
  for (int depth = 0; depth < 4 && process > 1; ++depth) {
    const detail::process_entry entry(process);
    if (!detail::is_launcher(entry.name)) return false;
    if (detail::stderr_is_terminal(process)) return true;
    process = entry.parent;
  }
  return false;
}

}  // namespace pipeline
