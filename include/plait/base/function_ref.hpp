// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {

template <class Signature>
class function_ref;

/// A reference to a callable: two words, no ownership, no allocation. The callable must outlive the call.
template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
  PLAIT_ALWAYS_INLINE function_ref(F&& f)
  noexcept  // NOLINT(google-explicit-constructor): made to be passed implicitly
      : object_(address_of(f)), call_(&call<std::remove_reference_t<F>>) {}

  PLAIT_ALWAYS_INLINE R operator()(Args... args) const { return call_(object_, static_cast<Args&&>(args)...); }

 private:
  template <class F>
  PLAIT_ALWAYS_INLINE static void* address_of(F& f) noexcept {
    if constexpr (std::is_function_v<F>) {
      return reinterpret_cast<void*>(&f);  // conditionally supported, and is where dlsym is
    } else {
      return const_cast<void*>(static_cast<const void*>(__builtin_addressof(f)));
    }
  }
  template <class F>
  static R call(void* object, Args... args) {
    if constexpr (std::is_function_v<F>) {
      return reinterpret_cast<F*>(object)(static_cast<Args&&>(args)...);
    } else {
      return (*static_cast<F*>(object))(static_cast<Args&&>(args)...);
    }
  }

  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace plait
