// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>
#include <plait/base/text.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <typeinfo>

PLAIT_INTERFACE

namespace plait {

/// The readable form of a mangled name (as type_info::name() gives it). A text that is no mangled name comes back
/// unchanged.
inline base::text demangle_text(const char* mangled) {
  struct holder {
    char* text;
    ~holder() { std::free(text); }
  };
  int status = 0;
  const holder readable{abi::__cxa_demangle(mangled, nullptr, nullptr, &status)};
  return std::string_view(status == 0 && readable.text != nullptr ? readable.text : mangled);
}
/// The same as a string.
inline std::string demangle(const char* mangled) { return demangle_text(mangled).c_str(); }

/// The readable name of a type, "std::vector<int, std::allocator<int> >".
inline std::string type_name(const std::type_info& type) { return demangle(type.name()); }

namespace detail {

template <class T>
constexpr const char* signature_of() {
  return __PRETTY_FUNCTION__;  // ends in "T = ...]" with both compilers
}

/// T as the compiler spells it, at compile time. To recognise kinds of types, never to identify one: two lambdas may
/// share a text.
template <class T>
consteval std::string_view spelled_name() {
  std::string_view text = signature_of<T>();
  text.remove_prefix(text.find("T = ") + 4);
  text.remove_suffix(1);
  return text;
}

}  // namespace detail
}  // namespace plait
