// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/functional.hpp>
#include <plait/dist/runtime.hpp>
#include <plait/dist/submit.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

/// One object of type T a rank, made by a factory on first use there; what tasks that are pinned to a rank share.
/// Belongs to a runtime: it is made anew in each, and ends with it. Access is thread-safe, the object itself is what T
/// is. Tasks use
/// `*x` and `x->`; code between runs uses `x.get(rt)`.
template <class T>
class rank_local {
 public:
  /// Makes each rank's object as T().
  rank_local() : rank_local([] { return std::make_unique<T>(); }) {}
  /// Makes it by `factory()`, which gives a T or a std::unique_ptr<T>. Called in the first task of the rank that asks.
  template <class F>
    requires std::is_invocable_v<F&>
  explicit rank_local(F factory)
      : factory_([make = std::move(factory)]() mutable -> dist::any_object {
          const auto destroy = [](void* object) noexcept { delete static_cast<T*>(object); };
          if constexpr (std::is_convertible_v<std::invoke_result_t<F&>, std::unique_ptr<T>>) {
            return {std::unique_ptr<T>(make()).release(), destroy};
          } else {
            return {new T(make()), destroy};
          }
        }) {}
  rank_local(const rank_local&) = delete;
  rank_local& operator=(const rank_local&) = delete;

  /// This rank's object. Throws plait::error outside of a run, and what the factory throws.
  T& operator*() const { return in(*dist::running("rank_local").second->home); }
  T* operator->() const { return &**this; }
  T& get() const { return **this; }
  /// This rank's object of a runtime, anywhere.
  T& get(const runtime& rt) const { return in(rt.node()); }

 private:
  T& in(dist::node& home) const { return *static_cast<T*>(home.objects().get(variable_, factory_)); }

  std::function<dist::any_object()> factory_;
  const std::uint64_t variable_ = dist::local_objects::new_variable();
};

}  // namespace PLAIT_DIST
}  // namespace plait
