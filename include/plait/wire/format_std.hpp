// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

template <class... Ts>
consteval obstacle first_obstacle() {
  obstacle first = obstacle::none;
  ((first = first == obstacle::none ? format<Ts>::why() : first), ...);
  return first;
}

// What the formats of composed types have in common.
template <class T>
struct composed {
  static constexpr bool is_block = false;
  static constexpr std::size_t least = 1;

  static void get_into(reader& in, T& value) {
    if constexpr (std::is_move_assignable_v<T>) {
      value = format<T>::get(in);
    } else {
      T made = format<T>::get(in);
      std::destroy_at(&value);
      std::construct_at(&value, std::move(made));
    }
  }
};

// Memory for `count` elements is taken at once only as far as the message is long.
inline std::size_t reserve_for(const reader& in, std::size_t count, std::size_t element_size) {
  const std::size_t possible = in.remaining() / element_size + 16;
  return count < possible ? count : possible;
}

// Blocks of this size and more are aligned, so that they can be read from where they lie.
inline constexpr std::size_t aligned_block = 64;
inline constexpr std::size_t block_alignment = 8;

template <class T>
void put_block(writer& out, const T* first, std::size_t count) {
  const std::size_t size = count * sizeof(T);
  if (alignof(T) > 1 && size >= aligned_block) {
    const std::byte zeroes[block_alignment] = {};
    const auto padding =
        static_cast<std::uint8_t>((block_alignment - (out.size() + 1) % block_alignment) % block_alignment);
    out.write(&padding, 1);
    out.write(zeroes, padding);
  }
  out.write(first, size);
}

template <class T>
std::span<const std::byte> take_block(reader& in, std::size_t count) {
  const std::size_t size = count * sizeof(T);
  if (alignof(T) > 1 && size >= aligned_block) {
    std::uint8_t padding = 0;
    in.read(&padding, 1);
    if (padding >= block_alignment) in.fail("holds a block that is not aligned");
    in.take(padding);
  }
  return in.take(size);
}

}  // namespace detail

/// A count, then the elements; plain ones in one block. Elements need no default constructor.
template <class T, class Allocator>
struct format<std::vector<T, Allocator>> : detail::composed<std::vector<T, Allocator>> {
  static consteval obstacle why() { return format<T>::why(); }
  static constexpr bool uses_archive = format<T>::uses_archive;

  static void put(writer& out, const std::vector<T, Allocator>& values) {
    out.write_size(values.size());
    if constexpr (format<T>::is_block) {
      detail::put_block(out, values.data(), values.size());
    } else {
      for (const T& value : values) detail::put_element<T>(out, value);
    }
  }

  static std::vector<T, Allocator> get(reader& in) {
    const std::size_t count = in.read_size(detail::least_of_element<T>);
    if constexpr (format<T>::is_block) {
      const auto block = detail::take_block<T>(in, count);
      if (reinterpret_cast<std::uintptr_t>(block.data()) % alignof(T) == 0) {
        const auto* first = reinterpret_cast<const T*>(block.data());
        return std::vector<T, Allocator>(first, first + count);
      }
      reader elements(block);
      return read_each(elements, count);
    } else {
      return read_each(in, count);
    }
  }

 private:
  static std::vector<T, Allocator> read_each(reader& in, std::size_t count) {
    std::vector<T, Allocator> values;
    values.reserve(detail::reserve_for(in, count, sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) values.push_back(detail::get_element<T>(in));
    return values;
  }
};

/// A byte for each bool.
template <class Allocator>
struct format<std::vector<bool, Allocator>> : detail::composed<std::vector<bool, Allocator>> {
  static consteval obstacle why() { return obstacle::none; }
  static constexpr bool uses_archive = false;
  static void put(writer& out, const std::vector<bool, Allocator>& values) {
    out.write_size(values.size());
    for (const bool value : values) format<bool>::put(out, value);
  }
  static std::vector<bool, Allocator> get(reader& in) {
    std::vector<bool, Allocator> values(in.read_size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = format<bool>::get(in);
    return values;
  }
};

/// A count, then the characters.
template <class Char, class Traits, class Allocator>
struct format<std::basic_string<Char, Traits, Allocator>>
    : detail::composed<std::basic_string<Char, Traits, Allocator>> {
  static consteval obstacle why() { return format<Char>::why(); }
  static constexpr bool uses_archive = false;
  static void put(writer& out, const std::basic_string<Char, Traits, Allocator>& text) {
    out.write_size(text.size());
    out.write(text.data(), text.size() * sizeof(Char));
  }
  static std::basic_string<Char, Traits, Allocator> get(reader& in) {
    std::basic_string<Char, Traits, Allocator> text(in.read_size(sizeof(Char)), Char());
    in.read(text.data(), text.size() * sizeof(Char));
    return text;
  }
};

/// The elements; plain ones in one block.
template <class T, std::size_t N>
struct format<std::array<T, N>> : detail::composed<std::array<T, N>> {
  static consteval obstacle why() { return format<T>::why(); }
  static constexpr bool uses_archive = format<T>::uses_archive;
  static constexpr bool is_block = format<T>::is_block && N != 0;
  static constexpr std::size_t least = N * format<T>::least;

  static void put(writer& out, const std::array<T, N>& values) {
    if constexpr (is_block) {
      out.write(values.data(), sizeof values);
    } else {
      for (const T& value : values) format<T>::put(out, value);
    }
  }
  static std::array<T, N> get(reader& in) {
    if constexpr (std::is_default_constructible_v<T>) {
      std::array<T, N> values{};
      get_into(in, values);
      return values;
    } else {
      return get_each(in, std::make_index_sequence<N>{});
    }
  }
  static void get_into(reader& in, std::array<T, N>& values) {
    if constexpr (is_block) {
      in.read(static_cast<void*>(values.data()), sizeof values);
    } else {
      for (T& value : values) format<T>::get_into(in, value);
    }
  }

 private:
  template <std::size_t... I>
  static std::array<T, N> get_each(reader& in, std::index_sequence<I...>) {
    return {{(static_cast<void>(I), format<T>::get(in))...}};
  }
};

/// Whether there is a value, then the value.
template <class T>
struct format<std::optional<T>> : detail::composed<std::optional<T>> {
  static consteval obstacle why() { return format<T>::why(); }
  static constexpr bool uses_archive = format<T>::uses_archive;
  static void put(writer& out, const std::optional<T>& value) {
    format<bool>::put(out, value.has_value());
    if (value) format<T>::put(out, *value);
  }
  static std::optional<T> get(reader& in) {
    if (!format<bool>::get(in)) return std::nullopt;
    return std::optional<T>(std::in_place, format<T>::get(in));
  }
};

/// The index, then the value. One that is valueless by exception cannot be sent: plait::error.
template <class... Ts>
struct format<std::variant<Ts...>> : detail::composed<std::variant<Ts...>> {
  static consteval obstacle why() { return detail::first_obstacle<Ts...>(); }
  static constexpr bool uses_archive = (format<Ts>::uses_archive || ...);

  static void put(writer& out, const std::variant<Ts...>& value) {
    if (value.valueless_by_exception()) throw error("plait: a variant that is valueless by exception cannot be sent");
    out.write_size(value.index());
    put_at(out, value, std::index_sequence_for<Ts...>{});
  }
  static std::variant<Ts...> get(reader& in) {
    const std::size_t index = in.read_size(0);
    if (index >= sizeof...(Ts)) in.fail("holds a variant with an alternative that its type does not have");
    return get_at(in, index, std::index_sequence_for<Ts...>{});
  }

 private:
  template <std::size_t... I>
  static void put_at(writer& out, const std::variant<Ts...>& value, std::index_sequence<I...>) {
    ((value.index() == I ? format<Ts>::put(out, *std::get_if<I>(&value)) : void()), ...);
  }
  template <std::size_t I>
  static std::variant<Ts...> get_one(reader& in) {
    return std::variant<Ts...>(std::in_place_index<I>,
                               format<std::variant_alternative_t<I, std::variant<Ts...>>>::get(in));
  }
  template <std::size_t... I>
  static std::variant<Ts...> get_at(reader& in, std::size_t index, std::index_sequence<I...>) {
    constexpr std::variant<Ts...> (*const read[])(reader&) = {&get_one<I>...};
    return read[index](in);
  }
};

/// The elements in order.
template <class... Ts>
struct format<std::tuple<Ts...>> : detail::composed<std::tuple<Ts...>> {
  static consteval obstacle why() { return detail::first_obstacle<Ts...>(); }
  static constexpr bool uses_archive = (format<Ts>::uses_archive || ...);
  static constexpr std::size_t least = (std::size_t{0} + ... + format<Ts>::least);
  static void put(writer& out, const std::tuple<Ts...>& values) {
    std::apply([&](const Ts&... value) { (format<Ts>::put(out, value), ...); }, values);
  }
  static std::tuple<Ts...> get([[maybe_unused]] reader& in) {
    return std::tuple<Ts...>{format<Ts>::get(in)...};  // braces evaluate from left to right
  }
};

/// The two elements.
template <class First, class Second>
struct format<std::pair<First, Second>> : detail::composed<std::pair<First, Second>> {
  static consteval obstacle why() { return detail::first_obstacle<First, Second>(); }
  static constexpr bool uses_archive = format<First>::uses_archive || format<Second>::uses_archive;
  static constexpr std::size_t least = format<First>::least + format<Second>::least;
  static void put(writer& out, const std::pair<First, Second>& values) {
    format<First>::put(out, values.first);
    format<Second>::put(out, values.second);
  }
  static std::pair<First, Second> get(reader& in) {
    return std::pair<First, Second>{format<First>::get(in), format<Second>::get(in)};
  }
};

}  // namespace plait::wire
