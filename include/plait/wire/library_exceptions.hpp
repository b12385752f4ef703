// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/exception.hpp>
#include <plait/wire/format_filesystem.hpp>

#include <filesystem>
#include <future>
#include <regex>
#include <string>

// Lets std::filesystem::filesystem_error, std::future_error and std::regex_error arrive as what they are. Apart from
// the other standard exceptions because their headers take longer to compile than all of plait's; without this header
// they arrive as remote_error. Include it in any file of the program.

namespace plait {
namespace wire {

template <>
struct exception_format<std::filesystem::filesystem_error> {
  static constexpr bool possible = true;
  static void put(writer& out, const std::filesystem::filesystem_error& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.std::system_error::what());
    format<std::filesystem::path>::put(out, thrown.path1());
    format<std::filesystem::path>::put(out, thrown.path2());
  }
  static std::filesystem::filesystem_error get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    const auto first = format<std::filesystem::path>::get(in);
    const auto second = format<std::filesystem::path>::get(in);
    const std::string& text = parts.text;
    if (first.empty()) return std::filesystem::filesystem_error(text, parts.code);
    if (second.empty()) return std::filesystem::filesystem_error(text, first, parts.code);
    return std::filesystem::filesystem_error(text, first, second, parts.code);
  }
};
template <>
struct exception_format<std::future_error> {
  static constexpr bool possible = true;
  static void put(writer& out, const std::future_error& thrown) { format<int>::put(out, thrown.code().value()); }
  static std::future_error get(reader& in) {
    return std::future_error(static_cast<std::future_errc>(format<int>::get(in)));
  }
};
template <>
struct exception_format<std::regex_error> {
  static constexpr bool possible = true;
  static void put(writer& out, const std::regex_error& thrown) {
    format<std::regex_constants::error_type>::put(out, thrown.code());
  }
  static std::regex_error get(reader& in) {
    return std::regex_error(format<std::regex_constants::error_type>::get(in));
  }
};
}  // namespace wire

namespace detail {
inline const transferable_exception<std::filesystem::filesystem_error> filesystem_error_travels;
inline const transferable_exception<std::future_error> future_error_travels;
inline const transferable_exception<std::regex_error> regex_error_travels;
}  // namespace detail
}  // namespace plait
