// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/wire/codec.hpp>
#include <plait/wire/format_filesystem.hpp>

#include <any>
#include <filesystem>
#include <functional>
#include <future>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <variant>

namespace plait::wire {

/// How an exception of exact type E is written and made again. The general form takes E's own serialisation if it has
/// one, else a constructor from the text of what(), else (types whose what() is fixed) the default constructor.
template <class E>
struct exception_format {
  /// True if E can be sent at all.
  static constexpr bool possible =
      transferable<E> || std::is_constructible_v<E, const std::string&> || std::is_constructible_v<E, const char*>;
  /// Appends the exception.
  static void put(writer& out, const E& thrown) {
    if constexpr (transferable<E>) {
      encode(out, thrown);
    } else {
      encode(out, std::string(thrown.what()));
    }
  }
  /// Makes it again.
  static E get(reader& in) {
    if constexpr (transferable<E>) {
      return decode<E>(in);
    } else if constexpr (std::is_constructible_v<E, const std::string&>) {
      return E(decode<std::string>(in));
    } else {
      return E(decode<std::string>(in).c_str());
    }
  }
};

namespace detail {

// Standard exceptions whose what() is always the same.
template <class E>
struct fixed_text_format {
  static void put(writer&, const E&) {}
  static E get(reader&) { return E(); }
};

inline const std::error_category& category_named(std::string_view name) {
  for (const std::error_category* known :
       {&std::generic_category(), &std::system_category(), &std::iostream_category(), &std::future_category()}) {
    if (name == known->name()) return *known;
  }
  throw error("plait: the error category " + std::string(name) + " cannot travel");
}

// The code of a system_error, and the text that its constructor was given.
struct system_error_parts {
  std::error_code code;
  std::optional<std::string> text;

  static void put(writer& out, const std::error_code& code, std::string_view what) {
    category_named(code.category().name());
    const std::string message = code.message();
    const std::string ending = ": " + message;
    std::optional<std::string> text;
    if (what.ends_with(ending)) {
      text = what.substr(0, what.size() - ending.size());
    } else if (what != message) {
      text = what;
    }
    encode(out, std::tuple(code.value(), std::string(code.category().name()), text));
  }
  static system_error_parts get(reader& in) {
    auto [value, category, text] = decode<std::tuple<int, std::string, std::optional<std::string>>>(in);
    return {std::error_code(value, category_named(category)), std::move(text)};
  }
};

}  // namespace detail

template <>
struct exception_format<std::exception> : detail::fixed_text_format<std::exception> {};
template <>
struct exception_format<std::bad_exception> : detail::fixed_text_format<std::bad_exception> {};
template <>
struct exception_format<std::bad_alloc> : detail::fixed_text_format<std::bad_alloc> {};
template <>
struct exception_format<std::bad_array_new_length> : detail::fixed_text_format<std::bad_array_new_length> {};
template <>
struct exception_format<std::bad_cast> : detail::fixed_text_format<std::bad_cast> {};
template <>
struct exception_format<std::bad_any_cast> : detail::fixed_text_format<std::bad_any_cast> {};
template <>
struct exception_format<std::bad_typeid> : detail::fixed_text_format<std::bad_typeid> {};
template <>
struct exception_format<std::bad_weak_ptr> : detail::fixed_text_format<std::bad_weak_ptr> {};
template <>
struct exception_format<std::bad_function_call> : detail::fixed_text_format<std::bad_function_call> {};
template <>
struct exception_format<std::bad_optional_access> : detail::fixed_text_format<std::bad_optional_access> {};
template <>
struct exception_format<std::bad_variant_access> : detail::fixed_text_format<std::bad_variant_access> {};

template <>
struct exception_format<std::system_error> {
  static void put(writer& out, const std::system_error& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.what());
  }
  static std::system_error get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    return parts.text ? std::system_error(parts.code, *parts.text) : std::system_error(parts.code);
  }
};
template <>
struct exception_format<std::ios_base::failure> {
  static void put(writer& out, const std::ios_base::failure& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.what());
  }
  static std::ios_base::failure get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    return std::ios_base::failure(parts.text.value_or(""), parts.code);
  }
};
template <>
struct exception_format<std::filesystem::filesystem_error> {
  static void put(writer& out, const std::filesystem::filesystem_error& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.std::system_error::what());
    encode(out, std::pair(thrown.path1(), thrown.path2()));
  }
  static std::filesystem::filesystem_error get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    const auto [first, second] = decode<std::pair<std::filesystem::path, std::filesystem::path>>(in);
    const std::string text = parts.text.value_or("");
    if (first.empty()) return std::filesystem::filesystem_error(text, parts.code);
    if (second.empty()) return std::filesystem::filesystem_error(text, first, parts.code);
    return std::filesystem::filesystem_error(text, first, second, parts.code);
  }
};
template <>
struct exception_format<std::future_error> {
  static void put(writer& out, const std::future_error& thrown) { encode(out, thrown.code().value()); }
  static std::future_error get(reader& in) { return std::future_error(static_cast<std::future_errc>(decode<int>(in))); }
};
template <>
struct exception_format<std::regex_error> {
  static void put(writer& out, const std::regex_error& thrown) { encode(out, thrown.code()); }
  static std::regex_error get(reader& in) { return std::regex_error(decode<std::regex_constants::error_type>(in)); }
};
template <>
struct exception_format<remote_error> {
  static void put(writer& out, const remote_error& thrown) {
    encode(out, std::tuple(thrown.rank(), thrown.host(), thrown.task_name(), thrown.type_name(), thrown.text()));
  }
  static remote_error get(reader& in) {
    auto [rank, host, task, type, text] =
        decode<std::tuple<int, std::string, std::string, std::string, std::string>>(in);
    return remote_error(rank, std::move(host), std::move(task), std::move(type), std::move(text));
  }
};

}  // namespace plait::wire
