// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/messages.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// When a run ends. Waves go down and up a binary tree of the ranks; a rank answers when it is passive and all below it
/// have answered, with the numbers of messages that it sent and received. When the sums of two waves agree, with each
/// other and sent with received, no work is left and none is under way (four counters: Mattern, "Algorithms for
/// distributed termination detection", 1987). Then waves count the control messages in the same way, while nobody
/// begins new exchanges, and at last all ranks leave, so that no message is left unreceived. A wave waits where a rank
/// is active: a busy job sends nothing.
///
/// Knows no transport: it is driven by whoever holds it and sends through `send`.
class termination {
 public:
  struct counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    friend bool operator==(const counts&, const counts&) = default;
  };
  /// The exception of the lowest rank whose root task threw.
  struct failure {
    int rank = -1;
    std::vector<std::byte> exception;
  };

  termination(int rank, int size) noexcept : rank_(rank), size_(size) {}

  /// Begins a run.
  void reset() { *this = termination(rank_, size_); }

  int parent() const noexcept { return (rank_ - 1) / 2; }
  template <class F>
  void for_children(F&& f) const {
    for (int child = 2 * rank_ + 1; child <= 2 * rank_ + 2 && child < size_; ++child) f(child);
  }

  /// From here on nobody may begin exchanges of control messages.
  bool closing() const noexcept { return closing_; }
  bool may_leave() const noexcept { return may_leave_; }
  const failure& lowest_failure() const noexcept { return failure_; }

  void note_failure(int rank, std::vector<std::byte> exception) {
    if (failure_.rank < 0 || rank < failure_.rank) failure_ = {rank, std::move(exception)};
  }

  /// A wave has come from the parent. The caller forwards `head` to the children. Throws plait::error if it is not the
  /// one that follows, as does answer.
  void begin(const wave_head& head) {
    check(!pending_ && head.number == number_ + 1);
    number_ = head.number;
    closing_ = closing_ || head.closing != 0;
    pending_ = true;
    sums_ = {};
    for_children([this](int) { ++answers_missing_; });
  }

  /// A child has answered.
  void answer(const wave_head& head) {
    check(answers_missing_ != 0 && head.number == number_);
    sums_.sent += head.sent;
    sums_.received += head.received;
    --answers_missing_;
  }

  /// Goes on as far as it can. `passive`: this rank has no work. `work` and `control`: its own messages.
  /// send_down(head) sends to all children, send_up(head) to the parent.
  template <class Down, class Up>
  void advance(bool passive, const counts& work, const counts& control, Down&& send_down, Up&& send_up) {
    for (;;) {
      if (may_leave_ || !(passive || closing_)) return;
      if (!pending_) {
        if (rank_ != 0) return;
        wave_head head{number_ + 1, 0, 0, -1, closing_, {}};
        begin(head);
        send_down(head);
      }
      if (answers_missing_ != 0) return;
      pending_ = false;
      const auto& own = closing_ ? control : work;
      sums_.sent += own.sent;
      sums_.received += own.received;
      if (rank_ != 0) {
        send_up(wave_head{number_, sums_.sent, sums_.received, failure_.rank, closing_, {}});
        return;
      }
      judge();
    }
  }

  /// The parent says that all may leave.
  void leave() noexcept { may_leave_ = true; }

 private:
  static void check(bool expected) {
    if (!expected)
      throw error(
          "plait: a message about the end of a run was lost or doubled: the transport or plait is at fault, please "
          "report it");
  }

  void judge() noexcept {
    const bool agreed = sums_.sent == sums_.received && have_last_ && sums_ == last_;
    last_ = sums_;
    have_last_ = true;
    if (!agreed && size_ > 1) return;
    if (closing_) {
      may_leave_ = true;
    } else {
      closing_ = true;
      have_last_ = false;
    }
  }

  int rank_;
  int size_;
  std::uint64_t number_ = 0;
  bool pending_ = false;
  bool closing_ = false;
  bool may_leave_ = false;
  int answers_missing_ = 0;
  counts sums_;
  counts last_;
  bool have_last_ = false;
  failure failure_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
