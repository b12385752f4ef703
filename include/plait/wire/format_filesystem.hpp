// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format_std.hpp>

#include <filesystem>
#include <string>

namespace plait::wire {

/// The path's text. Apart from the other formats because <filesystem> takes long to compile.
template <>
struct format<std::filesystem::path> : detail::composed<std::filesystem::path> {
  static consteval obstacle why() { return obstacle::none; }
  static constexpr bool uses_archive = false;
  static void put(writer& out, const std::filesystem::path& path) { format<std::string>::put(out, path.native()); }
  static std::filesystem::path get(reader& in) { return std::filesystem::path(format<std::string>::get(in)); }
};

}  // namespace plait::wire
