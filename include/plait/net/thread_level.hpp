// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <string_view>

PLAIT_INTERFACE

namespace plait {

/// What the threads of a process may do with MPI, as MPI_Init_thread granted it. Ordered: more is greater.
enum class thread_level {
  single,      ///< there is one thread
  funneled,    ///< only the thread that initialised MPI calls it
  serialized,  ///< any thread, one at a time
  multiple,    ///< any thread at any time
};

/// The name as in MPI's constants: "SINGLE", "FUNNELED", "SERIALIZED" or "MULTIPLE".
constexpr std::string_view to_string(thread_level level) noexcept {
  switch (level) {
    case thread_level::single:
      return "SINGLE";
    case thread_level::funneled:
      return "FUNNELED";
    case thread_level::serialized:
      return "SERIALIZED";
    case thread_level::multiple:
      return "MULTIPLE";
  }
  return "unknown";
}

}  // namespace plait
