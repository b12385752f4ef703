// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

// std::function and std::reference_wrapper without the rest of <functional>, whose searchers bring hash maps; libstdc++
// has them in headers of their own.
#if __has_include(<bits/std_function.h>) && __has_include(<bits/refwrap.h>)
#include <bits/refwrap.h>
#include <bits/std_function.h>
#else
#include <functional>
#endif

PLAIT_INTERFACE

namespace plait::base {

/// std::invoke: also calls pointers to members.
template <class F, class... A>
std::invoke_result_t<F, A...> invoke(F&& f, A&&... a) {
  return std::apply(std::forward<F>(f), std::forward_as_tuple(std::forward<A>(a)...));
}

}  // namespace plait::base
