// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/ranges.hpp>
#include <plait/base/type_name.hpp>
#include <plait/wire/archive.hpp>
#include <plait/wire/obstacle.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

// Counts of functions that cereal finds; one each way is right.
template <class T>
inline constexpr auto ways_out = cereal::traits::detail::count_output_serializers<T, output_archive>::value;
template <class T>
inline constexpr auto ways_in = cereal::traits::detail::count_input_serializers<T, input_archive>::value;

// Asking takes the compiler long, so only classes are asked for.
template <class T>
consteval bool is_user_defined() {
  if constexpr (std::is_class_v<T>) return ways_out<T> == 1 && ways_in<T> == 1;
  return false;
}
template <class T>
inline constexpr bool user_defined = is_user_defined<T>();
template <class T>
consteval bool is_ambiguous() {
  if constexpr (std::is_class_v<T>) return ways_out<T> > 1 || ways_in<T> > 1;
  return false;
}
template <class T>
inline constexpr bool ambiguous = is_ambiguous<T>();

template <class T>
consteval bool is_std() {
  return plait::detail::spelled_name<T>().starts_with("std::");
}

// Such a type is copied as bytes whatever headers of cereal are there. (std::atomic, which cannot move, is left to
// them.)
template <class T>
inline constexpr bool plain_std = is_std<T>() && std::is_trivially_copyable_v<T>&& std::is_move_constructible_v<T>;

// std types that hold addresses of their process although they are trivially copyable.
template <class T>
consteval bool is_process_bound() {
  if (!is_std<T>()) return false;
  auto name = plait::detail::spelled_name<T>();
  name = name.substr(0, name.find('<'));
  for (const std::string_view ending : {"::error_code", "::error_condition", "::type_index", "::thread::id",
                                        "::source_location", "::coroutine_handle"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

template <class T>
consteval bool is_lambda() {
  const auto name = plait::detail::spelled_name<T>();
  return name.starts_with("(lambda at ") || (name.ends_with(")>") && name.find("<lambda(") != name.npos);
}

template <class T>
inline constexpr bool is_view = false;
template <class T>
  requires std::ranges::enable_borrowed_range<T> || std::input_or_output_iterator<T>
inline constexpr bool is_view<T> = true;
template <class T>
inline constexpr bool is_view<std::reference_wrapper<T>> = true;

template <class T>
inline constexpr bool is_function_object = false;
template <class R, class... Args>
inline constexpr bool is_function_object<std::function<R(Args...)>> = true;

// Stand for a member of an aggregate in T{...}: one converts to everything, the other only to what cannot travel.
struct any_member {
  template <class U>
  operator U() const;
};
template <class Aggregate>
struct unsafe_member {
  template <class U>
    requires(!std::is_same_v<U, Aggregate> && !std::is_array_v<U> && format<U>::why() != obstacle::none)
  operator U() const;
};

template <class T, std::size_t>
using repeat = T;

template <class T, class Last, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{std::declval<repeat<any_member, I>>()..., std::declval<Last>()}; };
}

// Looks for pointers, views and the like among the first members of an aggregate; others cannot be looked into.
template <class T, std::size_t I = 0>
consteval bool has_unsafe_member() {
  if constexpr (I == 24 || I >= sizeof(T)) {
    return false;
  } else if constexpr (!takes<T, any_member>(std::make_index_sequence<I>{})) {
    return false;
  } else if constexpr (takes<T, unsafe_member<T>>(std::make_index_sequence<I>{})) {
    return true;
  } else {
    return has_unsafe_member<T, I + 1>();
  }
}

// Of a class that is none of the standard ones with a format of their own, and has no functions for cereal.
template <class T>
consteval obstacle class_obstacle() {
  if constexpr (is_view<T>) {
    return obstacle::view;
  } else if constexpr (is_function_object<T>) {
    return obstacle::function_object;
  } else if constexpr (is_process_bound<T>()) {
    return obstacle::process_bound;
  } else if constexpr (is_lambda<T>() && !std::is_empty_v<T>) {
    return obstacle::lambda;
  } else if constexpr (!std::is_move_constructible_v<T>) {
    return obstacle::not_movable;
  } else if constexpr (!std::is_trivially_copyable_v<T>) {
    return obstacle::not_serializable;
  } else if constexpr (std::is_aggregate_v<T> && std::is_class_v<T>) {
    return has_unsafe_member<T>() ? obstacle::unsafe_member : obstacle::none;
  } else {
    return obstacle::none;
  }
}

// Of a type without a format of its own.
template <class T>
consteval obstacle leaf_obstacle() {
  if constexpr (std::is_reference_v<T>) {
    return obstacle::reference;
  } else if constexpr (std::is_array_v<T>) {
    return obstacle::c_array;
  } else if constexpr (std::is_pointer_v<T>) {
    return std::is_function_v<std::remove_pointer_t<T>> ? obstacle::function_pointer : obstacle::raw_pointer;
  } else if constexpr (std::is_function_v<T> || std::is_member_function_pointer_v<T>) {
    return obstacle::function_pointer;
  } else if constexpr (std::is_void_v<T>) {
    return obstacle::not_serializable;
  } else if constexpr (std::is_scalar_v<T>) {
    return obstacle::none;
  } else if constexpr (enable_as_bytes<T>) {
    static_assert(std::is_trivially_copyable_v<T>, "plait: enable_as_bytes is for trivially copyable types");
    return obstacle::none;
  } else if constexpr (plain_std<T>) {
    return class_obstacle<T>();
  } else if constexpr (user_defined<T>) {
    if constexpr (!std::is_move_constructible_v<T>) {
      return obstacle::not_movable;
    } else if constexpr (!std::is_default_constructible_v<T> && !std::is_trivially_copyable_v<T> &&
                         !cereal::traits::has_load_and_construct<T, input_archive>::value) {
      return obstacle::not_constructible;
    } else {
      return obstacle::none;
    }
  } else if constexpr (ambiguous<T>) {
    return obstacle::ambiguous;
  } else {
    return class_obstacle<T>();
  }
}

}  // namespace detail
}  // namespace plait::wire
