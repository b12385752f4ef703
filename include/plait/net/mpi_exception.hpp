// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/wire/exception.hpp>

#include <string>
#include <utility>

// An mpi_error arrives on other ranks as itself.

PLAIT_INTERFACE

namespace plait {
namespace wire {
template <>
struct exception_format<mpi_error> {
  static constexpr bool possible = true;
  static void put(writer& out, const mpi_error& thrown) {
    format<int>::put(out, thrown.code());
    format<int>::put(out, thrown.error_class());
    format<std::string>::put(out, thrown.text());
    format<std::string>::put(out, thrown.call());
  }
  static mpi_error get(reader& in) {
    const int code = format<int>::get(in);
    const int error_class = format<int>::get(in);
    std::string text = format<std::string>::get(in);
    return mpi_error(code, error_class, std::move(text), format<std::string>::get(in));
  }
};
}  // namespace wire

namespace net {
inline const transferable_exception<mpi_error> mpi_error_travels;
}  // namespace net
}  // namespace plait

#endif  // PLAIT_WITH_MPI
