// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/wire/codec.hpp>

#include <any>
#include <functional>
#include <ios>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <variant>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

template <class E, class... Es>
inline constexpr bool is_one_of = (std::is_same_v<E, Es> || ...);

// Made from the text of what(). Listed, because asking whether a type has cereal's functions takes the compiler long.
template <class E>
concept text_exception = is_one_of<E, error, cancelled_error, timeout_error, registry_mismatch, std::runtime_error,
                                   std::range_error, std::overflow_error, std::underflow_error, std::logic_error,
                                   std::domain_error, std::invalid_argument, std::length_error, std::out_of_range>;

// Those whose what() is always the same.
template <class E>
concept fixed_exception = is_one_of<E, std::exception, std::bad_exception, std::bad_alloc, std::bad_array_new_length,
                                    std::bad_cast, std::bad_any_cast, std::bad_typeid, std::bad_weak_ptr,
                                    std::bad_function_call, std::bad_optional_access, std::bad_variant_access>;

}  // namespace detail

/// How an exception of exact type E is written and made again. The general form takes E's own serialisation if it has
/// one, else a constructor from the text of what().
template <class E>
struct exception_format {
  /// True if E can be sent at all.
  static constexpr bool possible =
      transferable<E> || std::is_constructible_v<E, const std::string&> || std::is_constructible_v<E, const char*>;
  /// Appends the exception.
  static void put(writer& out, const E& thrown) {
    if constexpr (transferable<E>) {
      encode(out, thrown);
    } else if constexpr (std::is_base_of_v<std::exception, E>) {
      format<std::string>::put(out, base::what_of(thrown));
    } else {
      format<std::string>::put(out, thrown.what());
    }
  }
  /// Makes it again.
  static E get(reader& in) {
    if constexpr (transferable<E>) {
      return decode<E>(in);
    } else if constexpr (std::is_constructible_v<E, const std::string&>) {
      return E(format<std::string>::get(in));
    } else {
      return E(format<std::string>::get(in).c_str());
    }
  }
};

template <detail::text_exception E>
struct exception_format<E> {
  static void put(writer& out, const E& thrown) { format<std::string>::put(out, thrown.what()); }
  static E get(reader& in) { return E(format<std::string>::get(in)); }
};

template <detail::fixed_exception E>
struct exception_format<E> {
  static void put(writer&, const E&) {}
  static E get(reader&) { return E(); }
};

namespace detail {

inline const std::error_category& category_named(std::string_view name) {
  for (const std::error_category* known :
       {&std::generic_category(), &std::system_category(), &std::iostream_category()}) {
    if (name == known->name()) return *known;
  }
  throw error(base::compose({"plait: the error category ", name, " cannot travel"}));
}

// The code of a system_error, and the text that its constructor was given.
struct system_error_parts {
  std::error_code code;
  bool has_text;
  std::string text;

  static void put(writer& out, const std::error_code& code, std::string_view what) {
    category_named(code.category().name());
    const std::string message = code.message();
    const std::string ending = base::compose({": ", message});
    const bool has_text = what != message;
    if (what.ends_with(ending)) what.remove_suffix(ending.size());
    format<int>::put(out, code.value());
    format<std::string>::put(out, code.category().name());
    format<bool>::put(out, has_text);
    if (has_text) format<std::string>::put(out, std::string(what));
  }
  static system_error_parts get(reader& in) {
    const int value = format<int>::get(in);
    const std::error_category& category = category_named(format<std::string>::get(in));
    const bool has_text = format<bool>::get(in);
    return {std::error_code(value, category), has_text, has_text ? format<std::string>::get(in) : std::string()};
  }
};

}  // namespace detail

template <>
struct exception_format<std::system_error> {
  static void put(writer& out, const std::system_error& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.what());
  }
  static std::system_error get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    return parts.has_text ? std::system_error(parts.code, parts.text) : std::system_error(parts.code);
  }
};
template <>
struct exception_format<std::ios_base::failure> {
  static void put(writer& out, const std::ios_base::failure& thrown) {
    detail::system_error_parts::put(out, thrown.code(), thrown.what());
  }
  static std::ios_base::failure get(reader& in) {
    const auto parts = detail::system_error_parts::get(in);
    return std::ios_base::failure(parts.text, parts.code);
  }
};
template <>
struct exception_format<remote_error> {
  static void put(writer& out, const remote_error& thrown) {
    format<int>::put(out, thrown.rank());
    format<std::string>::put(out, thrown.host());
    format<std::string>::put(out, thrown.task_name());
    format<std::string>::put(out, thrown.type_name());
    format<std::string>::put(out, thrown.text());
  }
  static remote_error get(reader& in) {
    const int rank = format<int>::get(in);
    std::string host = format<std::string>::get(in);
    std::string task = format<std::string>::get(in);
    std::string type = format<std::string>::get(in);
    return remote_error(rank, std::move(host), std::move(task), std::move(type), format<std::string>::get(in));
  }
};

}  // namespace plait::wire
