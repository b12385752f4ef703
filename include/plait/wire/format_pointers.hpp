// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format_std.hpp>

#include <memory>
#include <type_traits>
#include <typeinfo>

PLAIT_INTERFACE

namespace plait::wire {

namespace detail {

template <class T>
consteval obstacle pointee_obstacle() {
  if constexpr (std::is_array_v<T>) {
    return obstacle::array_pointer;
  } else if constexpr (std::is_void_v<T> || std::is_function_v<T>) {
    return obstacle::raw_pointer;
  } else if constexpr (std::is_polymorphic_v<T> && !std::is_final_v<T>) {
    return obstacle::polymorphic_pointer;
  } else {
    return format<T>::why();
  }
}

}  // namespace detail

/// Whether there is an object, then the object.
template <class T, class Deleter>
struct format<std::unique_ptr<T, Deleter>> : detail::composed<std::unique_ptr<T, Deleter>> {
  static consteval obstacle why() {
    if constexpr (!std::is_same_v<Deleter, std::default_delete<T>>) {
      return obstacle::not_serializable;
    } else {
      return detail::pointee_obstacle<T>();
    }
  }
  static constexpr bool uses_archive = format<std::remove_extent_t<T>>::uses_archive;
  static void put(writer& out, const std::unique_ptr<T>& pointer) {
    format<bool>::put(out, pointer != nullptr);
    if (pointer) format<T>::put(out, *pointer);
  }
  static std::unique_ptr<T> get(reader& in) {
    if (!format<bool>::get(in)) return nullptr;
    return std::make_unique<T>(format<T>::get(in));
  }
};

/// A number; where it occurs for the first time in a message, the object follows. So an object that is shared within
/// one encoded value is shared in the decoded one; cycles are possible through user types with default constructor.
template <class T>
struct format<std::shared_ptr<T>> : detail::composed<std::shared_ptr<T>> {
  static consteval obstacle why() { return detail::pointee_obstacle<T>(); }
  static constexpr bool uses_archive = true;

  static void put(writer& out, const std::shared_ptr<T>& pointer) {
    if (!pointer) return out.write_size(0);
    const auto [number, is_new] = archive_access::of(out).number_of(pointer, typeid(object));
    out.write_size(number + 1);
    if (is_new) format<object>::put(out, *pointer);
  }
  static std::shared_ptr<T> get(reader& in) {
    const std::size_t number = in.read_size(0);
    if (number == 0) return nullptr;
    const auto& known = archive_access::of(in).shared_objects();
    if (number > known.size() + 1) in.fail("refers to a shared object that it does not hold");
    if (number == known.size() + 1) return make(in);
    const auto& [type, pointer] = known[number - 1];
    if (*type != typeid(object)) in.fail("refers to a shared object of another type");
    if (!pointer) in.fail("holds a shared object that refers to itself and has no default constructor");
    return std::static_pointer_cast<object>(pointer);
  }

 private:
  using object = std::remove_const_t<T>;

  static std::shared_ptr<T> make(reader& in) {
    auto& known = archive_access::of(in).shared_objects();
    const std::size_t place = known.size();
    known.push_back({&typeid(object), nullptr});  // takes its number before the objects inside it
    if constexpr (format<object>::uses_archive && std::is_default_constructible_v<object>) {
      auto pointer = std::make_shared<object>();
      known[place].pointer = pointer;  // before its members are read, since they may refer to it
      format<object>::get_into(in, *pointer);
      return pointer;
    } else {
      auto pointer = std::make_shared<object>(format<object>::get(in));
      known[place].pointer = pointer;
      return pointer;
    }
  }
};

/// As shared_ptr. The object lives on only if the decoded value also holds a shared_ptr to it.
template <class T>
struct format<std::weak_ptr<T>> : detail::composed<std::weak_ptr<T>> {
  static consteval obstacle why() { return detail::pointee_obstacle<T>(); }
  static constexpr bool uses_archive = true;
  static void put(writer& out, const std::weak_ptr<T>& pointer) {
    format<std::shared_ptr<T>>::put(out, pointer.lock());
  }
  static std::weak_ptr<T> get(reader& in) { return format<std::shared_ptr<T>>::get(in); }
};

}  // namespace plait::wire
