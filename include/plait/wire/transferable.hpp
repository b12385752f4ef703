// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/wire/format_containers.hpp>
#include <plait/wire/format_pointers.hpp>

PLAIT_INTERFACE

namespace plait {

/// Types whose values can be sent to another rank: trivially copyable types without addresses in them, the standard
/// containers, optional, variant, tuple, pair, string, smart pointers of such types, and types with cereal's functions.
template <class T>
concept transferable = wire::format<T>::why()
== wire::obstacle::none;

/// Does not compile unless T is transferable. The first line of the error says what is in the way and what to do.
template <class T>
consteval void check_transferable() {
  wire::detail::check_travels<T>();
}

}  // namespace plait
