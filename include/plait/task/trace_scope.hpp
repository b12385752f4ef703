// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/sched/worker.hpp>

#include <cstdint>
#include <string_view>

PLAIT_INTERFACE

namespace plait {

/// A part of a task that has a name in the trace: `const trace_scope t("exchange");`. It may last beyond suspensions,
/// and end on another worker. Costs one look where no trace is written. The name must live as long as the scope.
class [[nodiscard("the part of the task ends with the scope")]] trace_scope {
 public:
  explicit trace_scope(std::string_view name) noexcept : name_(name) {
    auto* w = sched::worker::of_this_thread();
    if (w == nullptr || w->watched() == nullptr) return;
    number_ = (w->random() & ((std::uint64_t{1} << 39) - 1)) + 1;
    w->watched()->region(name_, number_, true);
  }
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;
  ~trace_scope() {
    if (number_ == 0) return;
    auto* w = sched::worker::of_this_thread();
    if (w != nullptr && w->watched() != nullptr) w->watched()->region(name_, number_, false);
  }

 private:
  std::string_view name_;
  std::uint64_t number_ = 0;
};

}  // namespace plait
