// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

#include "area_filter.hpp"
#include "options.hpp"

namespace pipeline {

/// Where a file is written until it is complete: an older result with the same name stays until then.
inline std::filesystem::path unfinished(std::filesystem::path path) { return path += ".part"; }

/// About how long the result of `count` files will be, in bytes; a little more rather than less.
inline std::uint64_t expected_bytes(std::size_t count, std::size_t size) {
  return std::uint64_t{count} * (std::uint64_t{size} * size * channels * sizeof(float) + 512) + 65536;
}

/// Finds out whether `path` can be written and has room for `bytes`, by reserving and freeing the room where the file
/// system can do that. HDF5 does not survive a full disk, and nobody wants to meet one after the work. Throws
/// usage_error with the reason.
inline void check_writable(const std::filesystem::path& path, std::uint64_t bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw usage_error("cannot write '" + path.string() + "': it is a directory; accepted is the path of a file");
  }
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw usage_error("cannot write '" + path.string() + "': it exists and is not a regular file");
  }
  const std::filesystem::path trial = unfinished(path);
  const int file = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int code = file < 0 ? errno : 0;
  if (file >= 0) {
    if (::fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0) code = errno;
    ::close(file);
    std::filesystem::remove(trial, ignored);
  }
  if (code == EOPNOTSUPP || code == ENOSYS) {
    const std::filesystem::space_info room = std::filesystem::space(std::filesystem::absolute(path).parent_path());
    code = room.available < bytes ? ENOSPC : 0;
  }
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) {
    throw usage_error("cannot write '" + path.string() + "': it needs " + std::to_string(bytes / 1'000'000 + 1) +
                      " MB: " + std::generic_category().message(code));
  }
  if (code != 0) throw usage_error("cannot write '" + path.string() + "': " + std::generic_category().message(code));
}

/// The contact sheet is written last: it would take the place of the result. Throws usage_error.
inline void check_different(const std::filesystem::path& output, const std::filesystem::path& contact_sheet) {
  std::error_code ignored;
  const std::filesystem::path sheet = std::filesystem::weakly_canonical(contact_sheet, ignored);
  if (sheet.empty() || sheet != std::filesystem::weakly_canonical(output, ignored)) return;
  throw usage_error("'" + output.string() + "' is both the output and the contact sheet; accepted are two files");
}

}  // namespace pipeline
