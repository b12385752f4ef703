// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format_std.hpp>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

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

// A count, then the elements as they come.
template <class Container>
struct list_format : composed<Container> {
  using value_type = typename Container::value_type;
  static consteval obstacle why() { return format<value_type>::why(); }
  static constexpr bool uses_archive = format<value_type>::uses_archive;
  static void put(writer& out, const Container& values) {
    out.write_size(values.size());
    for (const auto& value : values) put_element<value_type>(out, value);
  }
  static Container get(reader& in) {
    Container values;
    const std::size_t count = in.read_size(least_of_element<value_type>);
    for (std::size_t i = 0; i < count; ++i) values.push_back(get_element<value_type>(in));
    return values;
  }
};

template <class Container, class... Policies>
struct set_format : list_format<Container> {
  using key = typename Container::key_type;
  static consteval obstacle why() { return container_obstacle<key, Policies...>(); }
  static Container get(reader& in) {
    Container values;
    const std::size_t count = in.read_size(least_of_element<key>);
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), get_element<key>(in));
    return values;
  }
};

template <class Container, class... Policies>
struct map_format : list_format<Container> {
  using value_type = std::pair<typename Container::key_type, typename Container::mapped_type>;  // its key is not const
  static consteval obstacle why() { return container_obstacle<value_type, Policies...>(); }
  static Container get(reader& in) {
    Container values;
    const std::size_t count = in.read_size(least_of_element<value_type>);
    for (std::size_t i = 0; i < count; ++i) values.insert(values.end(), get_element<value_type>(in));
    return values;
  }
};

}  // namespace detail

/// A count, then the elements.
template <class T, class A>
struct format<std::deque<T, A>> : detail::list_format<std::deque<T, A>> {};
/// A count, then the elements.
template <class T, class A>
struct format<std::list<T, A>> : detail::list_format<std::list<T, A>> {};
/// A count, then the keys in order.
template <class K, class C, class A>
struct format<std::set<K, C, A>> : detail::set_format<std::set<K, C, A>, C> {};
/// A count, then the keys in order.
template <class K, class C, class A>
struct format<std::multiset<K, C, A>> : detail::set_format<std::multiset<K, C, A>, C> {};
/// A count, then the keys.
template <class K, class H, class E, class A>
struct format<std::unordered_set<K, H, E, A>> : detail::set_format<std::unordered_set<K, H, E, A>, H, E> {};
/// A count, then the keys.
template <class K, class H, class E, class A>
struct format<std::unordered_multiset<K, H, E, A>> : detail::set_format<std::unordered_multiset<K, H, E, A>, H, E> {};
/// A count, then the pairs in order.
template <class K, class T, class C, class A>
struct format<std::map<K, T, C, A>> : detail::map_format<std::map<K, T, C, A>, C> {};
/// A count, then the pairs in order.
template <class K, class T, class C, class A>
struct format<std::multimap<K, T, C, A>> : detail::map_format<std::multimap<K, T, C, A>, C> {};
/// A count, then the pairs.
template <class K, class T, class H, class E, class A>
struct format<std::unordered_map<K, T, H, E, A>> : detail::map_format<std::unordered_map<K, T, H, E, A>, H, E> {};
/// A count, then the pairs.
template <class K, class T, class H, class E, class A>
struct format<std::unordered_multimap<K, T, H, E, A>>
    : detail::map_format<std::unordered_multimap<K, T, H, E, A>, H, E> {};

}  // namespace plait::wire
