// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format_std.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

// A comparison or hash is made anew on the other rank, so it must be a type that says it all.
template <class... Policies>
consteval obstacle policy_obstacle() {
  if constexpr ((std::is_pointer_v<Policies> || ...)) {
    return obstacle::function_pointer;
  } else if constexpr (!(std::is_default_constructible_v<Policies> && ...)) {
    return obstacle::function_object;
  } else {
    return obstacle::none;
  }
}

template <class T, class... Policies>
consteval obstacle container_obstacle() {
  constexpr obstacle policy = policy_obstacle<Policies...>();
  return policy != obstacle::none ? policy : format<T>::why();
}

// The standard containers of other headers, known by what they have, so that those headers need not be included.
template <class C>
concept allocating = requires {
  typename C::allocator_type;
};
template <class C>
concept keyed = requires {
  typename C::key_type;
};
template <class C>
concept double_ended = requires(C& c) {
  c.size();
  c.pop_front();
  c.pop_back();
};
template <class C>
concept std_list = allocating<C> && !keyed<C> && double_ended<C> && is_std<C>();
template <class C>
concept std_associative = allocating<C> && keyed<C> && is_std<C>();

template <class C>
struct value_of_container {
  using type = typename C::value_type;
};
// The pairs of a map have const keys.
template <class C>
  requires requires { typename C::mapped_type; }
struct value_of_container<C> {
  using type = std::pair<typename C::key_type, typename C::mapped_type>;
};

}  // namespace detail

/// std::deque, std::list: a count, then the elements.
template <detail::std_list C>
struct format<C> : detail::composed<C> {
  using value_type = typename C::value_type;
  static consteval obstacle why() { return format<value_type>::why(); }
  static constexpr bool uses_archive = format<value_type>::uses_archive;
  static void put(writer& out, const C& values) {
    out.write_size(values.size());
    for (const auto& value : values) detail::put_element<value_type>(out, value);
  }
  static C get(reader& in) {
    C values;
    const std::size_t count = in.read_size(detail::least_of_element<value_type>);
    for (std::size_t i = 0; i < count; ++i) values.push_back(detail::get_element<value_type>(in));
    return values;
  }
};

/// Sets and maps, ordered or not, multiple or not: a count, then the keys or pairs as they come.
template <detail::std_associative C>
struct format<C> : detail::composed<C> {
  using value_type = typename detail::value_of_container<C>::type;
  static consteval obstacle why() {
    if constexpr (requires { typename C::hasher; }) {
      return detail::container_obstacle<value_type, typename C::hasher, typename C::key_equal>();
    } else {
      return detail::container_obstacle<value_type, typename C::key_compare>();
    }
  }
  static constexpr bool uses_archive = format<value_type>::uses_archive;
  static void put(writer& out, const C& values) {
    out.write_size(values.size());
    for (const auto& value : values) detail::put_element<typename C::value_type>(out, value);
  }
  static C get(reader& in) {
    C values;
    const std::size_t count = in.read_size(detail::least_of_element<value_type>);
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), detail::get_element<value_type>(in));
    return values;
  }
};

}  // namespace plait::wire
