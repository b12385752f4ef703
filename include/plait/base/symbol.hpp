// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/type_name.hpp>

#include <dlfcn.h>

#include <string>

namespace plait::base {

/// The name of the function that `address` lies in, without its parameters and what the compiler appended, or
/// `otherwise` where the program does not export its symbols.
inline std::string function_at(const void* address, const char* otherwise) {
  Dl_info found{};
  if (address == nullptr || ::dladdr(address, &found) == 0 || found.dli_sname == nullptr) return otherwise;
  std::string mangled = found.dli_sname;
  mangled = mangled.substr(0, mangled.find('.'));  // ".destroy", ".actor", ".cold"
  std::string name = demangle(mangled.c_str());
  int depth = 0;  // of parentheses and angle brackets, seen from the end
  for (auto i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return name.substr(0, i);
  }
  return name;
}

}  // namespace plait::base
