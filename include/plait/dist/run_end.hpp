// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/dist/termination.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Finds the end of a run by messages: joins `termination` to the link. By the holder of the transport.
class run_end {
 public:
  explicit run_end(link& l) noexcept : link_(l), termination_(l.transport().rank(), l.transport().size()) {}

  /// A run begins.
  void reset() { termination_.reset(); }
  /// Whether exchanges of control messages may still be begun.
  bool closing() const noexcept { return termination_.closing(); }
  const termination::failure& lowest_failure() const noexcept { return termination_.lowest_failure(); }
  void note_failure(int rank, std::vector<std::byte> exception) {
    termination_.note_failure(rank, std::move(exception));
  }

  /// Calls f for each rank below this one in the tree.
  template <class F>
  void for_children(F&& f) const {
    termination_.for_children(f);
  }

  /// Handles one of the three messages about the end.
  void on_wave_down(std::span<const std::byte> payload) {
    const auto head = take_head<wave_head>(payload);
    termination_.begin(head);
    send_down(head);
  }
  void on_wave_up(std::span<const std::byte> payload) {
    const auto head = take_head<wave_head>(payload);
    if (head.failed_rank >= 0) note_failure(head.failed_rank, {payload.begin(), payload.end()});
    termination_.answer(head);
  }
  void on_leave(std::span<const std::byte> payload) {
    const auto head = take_head<failure_head>(payload);
    if (head.rank >= 0) note_failure(head.rank, {payload.begin(), payload.end()});
    termination_.leave();
  }

  /// passive: this rank has no work. True if the rank may leave the run; those below it have been told then.
  bool found(bool passive) {
    termination_.advance(
        passive, {link_.work_sent(), link_.work_received()}, {link_.control_sent(), link_.control_received()},
        [this](const wave_head& head) { send_down(head); },
        [this](const wave_head& head) {
          link_.send_head(termination_.parent(), message::wave_up, head, lowest_failure().exception);
        });
    if (!termination_.may_leave()) return false;
    const failure_head head{lowest_failure().rank, 0};
    for_children([&](int child) { link_.send_head(child, message::leave, head, lowest_failure().exception); });
    return true;
  }

 private:
  void send_down(const wave_head& head) {
    for_children([&](int child) { link_.send_head(child, message::wave_down, head); });
  }

  link& link_;
  termination termination_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
