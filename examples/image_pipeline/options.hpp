// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace pipeline {

/// How progress is shown: `automatic` is a bar on a terminal and plain lines elsewhere.
enum class progress_style { automatic, bar, lines, none };

/// What the command line asked for.
struct options {
  std::filesystem::path input;  ///< directory to read; empty: the first default that exists
  std::filesystem::path output = "image_pipeline.h5";
  std::filesystem::path contact_sheet;  ///< JPEG to write; empty: none
  std::size_t size = 224;               ///< edge of the resized images, in pixels
  std::size_t chunk = 1;                ///< files that travel to another rank together
  progress_style progress = progress_style::automatic;
  bool help = false;
};

/// A command line, a directory or an output that cannot be used: exit status 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t largest_size = 4096;
inline constexpr std::size_t largest_chunk = 1'000'000;

/// The text of --help.
inline constexpr std::string_view usage_text =
    R"(usage: image_pipeline [options] [directory]

Reads every *.jpg and *.jpeg below the directory, decodes it, resizes it to N x N with an area filter, normalises it
per channel, and writes all images into one HDF5 file. Files are tasks of plait; the file is written by all ranks.
Without a directory: the photographs of Debian's package mate-backgrounds.

  -o, --output FILE        HDF5 file to write (default image_pipeline.h5)
  -n, --size N             edge of the resized images, 1 to 4096 (default 224)
  -c, --chunk N            files handed out together, 1 to 1000000 (default 1)
  -s, --contact-sheet FILE also write a JPEG that shows the resized images
  -p, --progress STYLE     auto, bar, lines or none (default auto: a bar on a terminal, else lines)
  -h, --help               print this text

Images are stretched to the square; EXIF orientation is ignored; CMYK is converted without its colour profile.
Exit status: 0 all files are in the result, 1 some could not be read (they are named, and marked in the result)
or the result could not be written, 2 wrong usage, or nothing to read.
)";

namespace detail {

inline std::size_t parse_count(std::string_view name, std::string_view text, std::size_t largest) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > largest) {
    throw usage_error(std::string(name) + " is '" + std::string(text) + "'; accepted is a whole number from 1 to " +
                      std::to_string(largest));
  }
  return value;
}

inline std::filesystem::path parse_file(std::string_view name, std::string_view text) {
  if (text.empty()) throw usage_error(std::string(name) + " is empty; accepted is the path of a file");
  return std::filesystem::path(text);
}

inline progress_style parse_progress(std::string_view name, std::string_view text) {
  if (text == "auto") return progress_style::automatic;
  if (text == "bar") return progress_style::bar;
  if (text == "lines") return progress_style::lines;
  if (text == "none") return progress_style::none;
  throw usage_error(std::string(name) + " is '" + std::string(text) + "'; accepted are auto, bar, lines and none");
}

/// The long name of an option that takes a value, or an empty text.
inline std::string_view option_with_value(std::string_view name) {
  if (name == "-o" || name == "--output") return "--output";
  if (name == "-n" || name == "--size") return "--size";
  if (name == "-c" || name == "--chunk") return "--chunk";
  if (name == "-s" || name == "--contact-sheet") return "--contact-sheet";
  if (name == "-p" || name == "--progress") return "--progress";
  return {};
}

inline void set_option(options& result, std::string_view name, std::string_view value) {
  if (name == "--output") result.output = parse_file(name, value);
  if (name == "--size") result.size = parse_count(name, value, largest_size);
  if (name == "--chunk") result.chunk = parse_count(name, value, largest_chunk);
  if (name == "--contact-sheet") result.contact_sheet = parse_file(name, value);
  if (name == "--progress") result.progress = parse_progress(name, value);
}

inline void set_input(options& result, std::string_view text) {
  if (text.empty()) throw usage_error("the input directory is an empty text; accepted is the path of a directory");
  if (!result.input.empty()) {
    throw usage_error("two input directories: '" + result.input.string() + "' and '" + std::string(text) +
                      "'; accepted is one");
  }
  result.input = std::filesystem::path(text);
}

}  // namespace detail

/// Reads the command line; `--name value` and `--name=value` are the same. Throws usage_error that says what is
/// accepted.
inline options parse_options(int argc, char** argv) {
  options result;
  bool only_operands = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (only_operands || argument.empty() || argument.front() != '-') {
      detail::set_input(result, argument);
      continue;
    }
    if (argument == "--") {
      only_operands = true;
      continue;
    }
    if (argument == "-h" || argument == "--help") {
      result.help = true;
      return result;
    }
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string_view::npos;
    const std::string_view name = detail::option_with_value(argument.substr(0, equals));
    if (name.empty()) throw usage_error("unknown option '" + std::string(argument) + "'; --help lists what there is");
    if (equals != std::string_view::npos) {
      detail::set_option(result, name, argument.substr(equals + 1));
    } else if (i + 1 < argc) {
      detail::set_option(result, name, argv[++i]);
    } else {
      throw usage_error(std::string(argument) + " needs a value; --help says which");
    }
  }
  return result;
}

}  // namespace pipeline
