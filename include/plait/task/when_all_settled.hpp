// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/when_all.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

PLAIT_INTERFACE

namespace plait {

/// How a task ended: by a result, or by an exception. T as of its task. Movable, and copyable if T is.
template <class T = void>
class settled {
  using stored = detail::stored_t<T>;

 public:
  using value_type = T;

  /// Takes the outcome of a future that is done.
  explicit settled(future<T> f) : outcome_(outcome_of(f)) {}

  bool has_value() const noexcept { return outcome_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// The result; throws the exception if there is none.
  std::add_lvalue_reference_t<T> value() & { return look(*this); }
  std::add_lvalue_reference_t<const T> value() const& { return look(*this); }
  /// The same of a temporary: moves the result out.
  T value() && {
    if constexpr (std::is_object_v<T>) {
      return std::move(look(*this));
    } else {
      return look(*this);
    }
  }

  /// The exception, or null if there is a result.
  std::exception_ptr exception() const noexcept {
    const auto* e = std::get_if<1>(&outcome_);
    return e != nullptr ? *e : nullptr;
  }

 private:
  using outcome = std::variant<stored, std::exception_ptr>;

  static outcome outcome_of(future<T>& f) {
    if (auto e = f.exception()) return outcome(std::in_place_index<1>, std::move(e));
    if constexpr (std::is_void_v<T>) {
      return outcome(std::in_place_index<0>);
    } else if constexpr (std::is_reference_v<T>) {
      return outcome(std::in_place_index<0>, &f.get());
    } else {
      return outcome(std::in_place_index<0>, f.get());
    }
  }

  template <class Self>
  static decltype(auto) look(Self& self) {
    if (const auto* e = std::get_if<1>(&self.outcome_)) std::rethrow_exception(*e);
    if constexpr (std::is_void_v<T>) {
      return;
    } else if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(**std::get_if<0>(&self.outcome_));
    } else {
      return (*std::get_if<0>(&self.outcome_));
    }
  }

  outcome outcome_;
};

namespace detail {

/// What joins settled<T>...: can be indexed where they are all alike.
template <class... T>
struct settled_together {
  using type = std::tuple<settled<T>...>;
};
template <class First, class... Rest>
  requires(std::is_same_v<First, Rest>&&...)
struct settled_together<First, Rest...> {
  using type = std::array<settled<First>, 1 + sizeof...(Rest)>;
};

/// How when_all_settled gives what has ended.
struct outcomes {
  template <class... T>
  using tuple = typename settled_together<T...>::type;
  template <class T>
  using element = settled<T>;

  template <class... T>
  static tuple<T...> of(std::tuple<future<T>...>& futures) {
    return std::apply([](auto&... f) { return tuple<T...>{settled<T>(std::move(f))...}; }, futures);
  }
  template <class T>
  static std::vector<settled<T>> of(std::vector<future<T>>& futures) {
    std::vector<settled<T>> taken;
    taken.reserve(futures.size());
    for (auto& f : futures) taken.emplace_back(std::move(f));
    return taken;
  }
};

}  // namespace detail

/// Starts and joins tasks and futures as when_all does, but never throws what they threw: gives a std::array of
/// settled<T> if all have the same T, else a tuple. The exceptions in it count as seen.
template <detail::child... C>
auto when_all_settled(C&&... children) {
  return detail::start_and_join<detail::outcomes, std::remove_cvref_t<C>...>(detail::taken(children)...);
}

/// The same for a range of tasks, of futures or of shared futures: gives a vector of settled<T> in their order.
template <class R>
  requires detail::child<detail::element_t<R>>
auto when_all_settled(R&& children) {
  return detail::start_and_join_range<detail::outcomes>(detail::take_elements(children));
}

}  // namespace plait
