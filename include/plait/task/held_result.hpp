// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/exchange.hpp>
#include <plait/base/frame_pool.hpp>
#include <plait/task/result_cell.hpp>

#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

// What a future holds: nothing, the cell of its task, or the result itself. The last is so for forks that had ended
// by the time their parents went on, which are most, and for small results: then the frame of the child is free again
// at once, and the next child gets it while it is in the cache.

PLAIT_INTERFACE

namespace plait::detail {

template <class T>
constexpr bool has_room_for() noexcept {
  if constexpr (std::is_scalar_v<T>) return sizeof(T) <= sizeof(void*);
  return std::is_same_v<T, nothing>;
}
/// Whether a future<T> has room for the result. Asks nothing of classes, which may be incomplete.
template <class T>
inline constexpr bool is_small_result = has_room_for<stored_t<T>>();

/// A done cell for a result that came without one.
template <class T>
class finished_cell final : public base::in_frame_memory, public result_cell<T> {
 public:
  explicit finished_cell(const stored_t<T>& result) noexcept {
    this->kind = origin::object;
    static constexpr cell_functions own{&delete_cell<finished_cell>, &refuse_all};
    this->functions = &own;
    this->set_value(result);
    this->state.store(state_owner | state_claimed | state_done, std::memory_order_relaxed);  // nobody else knows it
  }
};

/// What a future holds. Owns nothing.
template <class T>
class held_result {
 public:
  held_result() noexcept = default;
  explicit held_result(result_cell<T>& cell) noexcept : word_(reinterpret_cast<std::uintptr_t>(&cell)) {}
  explicit held_result(const stored_t<T>& result) noexcept requires is_small_result<T> : word_(at_hand),
                                                                                         room_(result) {}
  held_result(held_result&& other) noexcept
      : word_(base::exchange(other.word_, std::uintptr_t{0})), room_(other.room_) {}
  held_result& operator=(held_result&& other) noexcept {
    word_ = base::exchange(other.word_, std::uintptr_t{0});
    room_ = other.room_;
    return *this;
  }

  bool empty() const noexcept { return word_ == 0; }
  bool has_result() const noexcept {
    if constexpr (is_small_result<T>) return word_ == at_hand;
    return false;
  }
  bool has_cell() const noexcept { return word_ > at_hand; }

  result_cell<T>& cell() const noexcept { return *reinterpret_cast<result_cell<T>*>(word_); }
  T result() const noexcept {
    if constexpr (!is_small_result<T>) {
      std::abort();  // there never is one
    } else if constexpr (std::is_reference_v<T>) {
      return *room_;
    } else if constexpr (!std::is_void_v<T>) {
      return room_;
    }
  }
  /// Makes a cell of a result at hand. Throws std::bad_alloc.
  void move_to_cell() {
    if constexpr (is_small_result<T>)
      word_ = reinterpret_cast<std::uintptr_t>(static_cast<result_cell<T>*>(new finished_cell<T>(room_)));
  }

 private:
  static constexpr std::uintptr_t at_hand = 1;  ///< no address of a cell

  std::uintptr_t word_ = 0;
  [[no_unique_address]] std::conditional_t<is_small_result<T>, stored_t<T>, nothing> room_{};
};

}  // namespace plait::detail
