// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/classify.hpp>

#include <cereal/access.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait::wire {

/// How values of type T are written and read. The general form serves numbers and enumerations, user types with
/// cereal's serialize or save/load, and other trivially copyable types, as their bytes. format_std.hpp has the standard
/// containers.
template <class T>
struct format {
  /// What keeps T from travelling.
  static consteval obstacle why() { return detail::leaf_obstacle<T>(); }
  /// True if T has its own functions, which need an archive.
  static constexpr bool uses_archive =
      !std::is_scalar_v<T> && !enable_as_bytes<T> && !detail::plain_std<T> && detail::user_defined<T>;
  /// True if many of them side by side can be written in one block.
  static constexpr bool is_block = !uses_archive && std::is_trivially_copyable_v<T>;
  /// A lower bound of the bytes that a value takes.
  static constexpr std::size_t least = is_block ? sizeof(T) : 0;

  /// Appends the value.
  static void put(writer& out, const T& value) {
    if constexpr (uses_archive) {
      archive_access::of(out).user_defined(value);
    } else {
      out.write(std::addressof(value), sizeof(T));
    }
  }
  /// Reads a value, for which no default constructor is needed if it is made of bytes.
  static T get(reader& in) {
    if constexpr (!uses_archive) {
      slot made;
      in.read(static_cast<void*>(std::addressof(made.value)), sizeof(T));
      return std::move(made.value);
    } else if constexpr (cereal::traits::has_load_and_construct<T, input_archive>::value) {
      return construct(in);
    } else if constexpr (std::is_default_constructible_v<T>) {
      T value{};
      get_into(in, value);
      return value;
    } else {
      slot made;  // trivially copyable, and with a load of its own: its members are assigned over zeroes
      std::memset(static_cast<void*>(std::addressof(made.value)), 0, sizeof(T));
      get_into(in, made.value);
      return std::move(made.value);
    }
  }
  /// Reads over a value that is there.
  static void get_into(reader& in, T& value) {
    if constexpr (uses_archive) {
      archive_access::of(in).user_defined(value);
    } else {
      in.read(static_cast<void*>(std::addressof(value)), sizeof(T));
    }
  }

 private:
  union slot {
    slot() {}
    ~slot() {}  // T is trivially copyable, so there is nothing to destroy
    T value;
  };

  static T construct(reader& in) {
    alignas(T) std::byte storage[sizeof(T)];
    const nesting level(archive_access::of(in).depth());
    cereal::memory_detail::LoadAndConstructLoadWrapper<input_archive, T> made(reinterpret_cast<T*>(storage));
    return std::move(made.load(archive_access::of(in)));
  }
};

/// bool is read as 0 or 1; any other byte is an error.
template <>
struct format<bool> {
  static consteval obstacle why() { return obstacle::none; }
  static constexpr bool uses_archive = false;
  static constexpr bool is_block = false;
  static constexpr std::size_t least = 1;
  static void put(writer& out, bool value) {
    const std::uint8_t byte = value ? 1 : 0;
    out.write(&byte, 1);
  }
  static bool get(reader& in) {
    std::uint8_t byte = 0;
    in.read(&byte, 1);
    if (byte > 1) in.fail("holds a bool that is neither true nor false");
    return byte == 1;
  }
  static void get_into(reader& in, bool& value) { value = get(in); }
};

/// What is no object, or cannot be returned, has no values to send.
template <class T>
  requires(!std::is_object_v<T> || std::is_array_v<T>)
struct format<T> {
  static consteval obstacle why() { return detail::leaf_obstacle<T>(); }
  static constexpr bool uses_archive = false;
  static constexpr bool is_block = false;
  static constexpr std::size_t least = 1;
};

/// const says nothing about bytes.
template <class T>
  requires(!std::is_array_v<T>)
struct format<const T> : format<T> {};

namespace detail {

// One element of a container. It takes a byte at least, so that a damaged count cannot ask for endless empty elements.
template <class T>
void put_element(writer& out, const T& value) {
  if constexpr (format<T>::least != 0) {
    format<T>::put(out, value);
  } else {
    const auto before = out.size();
    format<T>::put(out, value);
    if (out.size() == before) out.write("", 1);
  }
}

template <class T>
T get_element(reader& in) {
  if constexpr (format<T>::least != 0) {
    return format<T>::get(in);
  } else {
    struct padding {
      reader& in;
      std::size_t before = in.position();
      void skip() const {
        if (in.position() == before) in.take(1);
      }
    };
    const padding after{in};
    T value = format<T>::get(in);
    after.skip();
    return value;
  }
}

template <class T>
inline constexpr std::size_t least_of_element = format<T>::least != 0 ? format<T>::least : 1;

// A member of a user type. What cereal's functions of other headers serve (std::atomic, std::valarray) passes too.
template <class T>
void put_part(writer& out, const T& value) {
  if constexpr (!format<T>::uses_archive) check_travels<T>();
  if constexpr (format<T>::uses_archive || format<T>::why() == obstacle::none) format<T>::put(out, value);
}

template <class T>
void get_part(reader& in, T& value) {
  if constexpr (!format<T>::uses_archive) check_travels<T>();
  if constexpr (format<T>::uses_archive || format<T>::why() == obstacle::none) format<T>::get_into(in, value);
}

}  // namespace detail
}  // namespace plait::wire

/// Lets cereal's load_and_construct make objects without default constructor from our archive.
template <class T>
struct cereal::memory_detail::LoadAndConstructLoadWrapper<plait::wire::input_archive, T> {
  explicit LoadAndConstructLoadWrapper(T* place) : construct(place) {}
  LoadAndConstructLoadWrapper(const LoadAndConstructLoadWrapper&) = delete;
  LoadAndConstructLoadWrapper& operator=(const LoadAndConstructLoadWrapper&) = delete;
  ~LoadAndConstructLoadWrapper() {
    try {
      construct.ptr()->~T();
    } catch (const ::cereal::Exception&) {  // nothing was constructed
    }
  }
  /// Calls T's load_and_construct; returns what it made.
  T& load(plait::wire::input_archive& archive) {
    ::cereal::detail::Construct<T, plait::wire::input_archive>::load_andor_construct(archive, construct);
    return *construct.ptr();
  }
  /// Where T's function puts the object.
  ::cereal::construct<T> construct;
};
