// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

PLAIT_INTERFACE

namespace plait::wire {

/// Specialise as true for a type of yours whose bytes are its value on any rank, although it looks otherwise (a struct
/// with a pointer that is not used elsewhere, a wrapper of a lambda). It must be trivially copyable.
template <class T>
inline constexpr bool enable_as_bytes = false;

/// Why a type cannot travel to another rank. check_transferable turns it into a compile error.
enum class obstacle {
  none,
  raw_pointer,
  function_pointer,
  reference,
  view,
  function_object,
  lambda,
  c_array,
  array_pointer,
  polymorphic_pointer,
  process_bound,
  unsafe_member,
  ambiguous,
  not_constructible,
  not_movable,
  not_serializable,
};

template <class T>
struct format;

namespace detail {

// One of these lines is the first error that a user sees; the compiler adds T in the line after it.
template <class T>
consteval void check_travels() {
  constexpr obstacle why = format<T>::why();
  static_assert(why != obstacle::raw_pointer,
                "plait: a raw pointer cannot travel to another rank, where its address means nothing; send the value "
                "itself, a std::vector or a std::unique_ptr");
  static_assert(why != obstacle::function_pointer,
                "plait: a function pointer cannot travel to another rank, where its address means nothing; make the "
                "function a template argument, as in submit<f>");
  static_assert(why != obstacle::reference,
                "plait: a reference cannot travel to another rank; send a copy of the value");
  static_assert(why != obstacle::view,
                "plait: a view (std::span, std::string_view, std::reference_wrapper, an iterator) cannot travel to "
                "another rank: what it refers to stays behind; send a std::vector or std::string");
  static_assert(
      why != obstacle::function_object,
      "plait: a std::function cannot travel to another rank: its code is known only here; make the function a "
      "template argument, as in submit<f>");
  static_assert(why != obstacle::lambda,
                "plait: a lambda with captures cannot travel to another rank; pass the captures as arguments, or use "
                "plait::by_value if they are trivially copyable");
  static_assert(why != obstacle::c_array, "plait: a C array cannot travel as a value; use std::array or std::vector");
  static_assert(why != obstacle::array_pointer,
                "plait: a smart pointer to an array does not know its length and cannot travel; use std::vector");
  static_assert(why != obstacle::polymorphic_pointer,
                "plait: a pointer to a class with virtual functions cannot travel: the object's dynamic type would be "
                "lost; use std::variant, or mark the class final");
  static_assert(
      why != obstacle::process_bound,
      "plait: this standard type refers to objects of its own process and cannot travel to another rank; send "
      "a number or a text in its place");
  static_assert(why != obstacle::unsafe_member,
                "plait: a struct with a member that cannot travel (a pointer, reference, view or the like) would be "
                "copied as bytes; give it cereal's serialize, or specialise plait::wire::enable_as_bytes");
  static_assert(why != obstacle::ambiguous,
                "plait: cereal finds more than one way to serialize this type; keep either serialize or save and load");
  static_assert(why != obstacle::not_constructible,
                "plait: this type has cereal's serialize but no public default constructor to load into; add one, or a "
                "static load_and_construct, or make the type trivially copyable");
  static_assert(why != obstacle::not_movable,
                "plait: a type that can be neither moved nor copied cannot travel to another rank");
  static_assert(why != obstacle::not_serializable,
                "plait: this type cannot travel to another rank: it is not trivially copyable, and no cereal functions "
                "for it are known here; add template <class Archive> void serialize(Archive& archive) { "
                "archive(members...); }, or for a rarer standard container include cereal's header, such as "
                "<cereal/types/queue.hpp>");
}

}  // namespace detail
}  // namespace plait::wire
