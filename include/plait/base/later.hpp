// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

PLAIT_INTERFACE

namespace plait::base {

namespace detail {
template <class T, class>
struct later {
  using type = T;
};
}  // namespace detail

/// T, in the eyes of the compiler a type that depends on the template parameter `Of`. A template that names its
/// containers so costs a program that never uses it nothing but its parsing.
template <class T, class Of>
using later = typename detail::later<T, Of>::type;

}  // namespace plait::base
