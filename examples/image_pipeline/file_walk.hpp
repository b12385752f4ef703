// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "options.hpp"

namespace pipeline {

/// What a walk through a directory tree found.
struct found_files {
  std::filesystem::path root;
  std::vector<std::string> names;                               ///< relative to root, with '/', sorted by their bytes
  std::uint64_t others = 0;                                     ///< files that are no JPEG by their name
  std::vector<std::pair<std::string, std::string>> unreadable;  ///< directories that could not be listed, and why
};

/// Whether the name ends in .jpg or .jpeg, in any mixture of cases.
inline bool has_jpeg_name(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& letter : extension) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return extension == ".jpg" || extension == ".jpeg";
}

namespace detail {

inline void walk_directory(const std::filesystem::path& relative, found_files& found) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::directory_iterator entries(found.root / relative, error);
  while (!error && entries != fs::directory_iterator()) {
    const fs::path below = relative / entries->path().filename();
    std::error_code unknown;  // a dangling link, say: it is no regular file then
    if (!entries->is_symlink(unknown) && entries->is_directory(unknown)) {
      walk_directory(below, found);
    } else if (has_jpeg_name(below) && !entries->is_directory(unknown)) {
      found.names.push_back(below.generic_string());
    } else {
      ++found.others;
    }
    entries.increment(error);
  }
  if (error) found.unreadable.emplace_back(relative.empty() ? "." : relative.generic_string(), error.message());
}

}  // namespace detail

/// Lists the JPEG files below root, without following links to directories. The order depends on the names only, so
/// an image has the same index however many ranks take part. Throws usage_error where root is no readable directory
/// or holds no JPEG.
inline found_files find_jpeg_files(const std::filesystem::path& root) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(root, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw usage_error("the input directory '" + root.string() + "' does not exist");
  }
  if (error) throw usage_error("cannot open the input directory '" + root.string() + "': " + error.message());
  if (!std::filesystem::is_directory(status)) {
    throw usage_error("'" + root.string() + "' is not a directory; accepted is a directory with JPEG files");
  }
  found_files found;
  found.root = root;
  detail::walk_directory({}, found);
  if (found.names.empty() && !found.unreadable.empty()) {
    throw usage_error("cannot list '" + (root / found.unreadable.front().first).lexically_normal().string() +
                      "': " + found.unreadable.front().second);
  }
  if (found.names.empty()) {
    throw usage_error(
        "no *.jpg or *.jpeg below the input directory '" + root.string() + "' (" +
        (found.others == 0 ? std::string("it is empty") : std::to_string(found.others) + " files with other names") +
        ")");
  }
  std::sort(found.names.begin(), found.names.end());  // std::string compares as unsigned bytes
  return found;
}

/// Where photographs are looked for if no directory is given: Debian's mate-backgrounds first.
inline constexpr std::array<std::string_view, 4> default_inputs = {"/usr/share/backgrounds/mate",
                                                                   "/usr/local/share/backgrounds/mate",
                                                                   "/usr/share/backgrounds", "/usr/share/wallpapers"};

/// Lists the files of the first default directory that has any. Throws usage_error that names all of them.
inline found_files find_default_files() {
  std::string tried;
  for (const std::string_view directory : default_inputs) {
    std::error_code error;
    if (std::filesystem::is_directory(directory, error)) {
      try {
        return find_jpeg_files(directory);
      } catch (const usage_error&) {  // nothing there: look in the next one
      }
    }
    tried += (tried.empty() ? "" : ", ") + std::string(directory);
  }
  throw usage_error("no photographs found in " + tried +
                    "; install the package mate-backgrounds or give a directory with JPEG files");
}

/// The class of an image: the name of the directory that holds it.
inline std::string label_of(const std::filesystem::path& root, const std::string& name) {
  const std::filesystem::path parent = std::filesystem::path(name).parent_path();
  if (!parent.empty()) return parent.filename().string();
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(root, error);
  return error || whole.filename().empty() ? std::string("/") : whole.filename().string();
}

}  // namespace pipeline
