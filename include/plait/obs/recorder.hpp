// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/obs/task_times.hpp>
#include <plait/obs/trace_names.hpp>
#include <plait/obs/trace_ring.hpp>
#include <plait/obs/watcher.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

PLAIT_INTERFACE

namespace plait::obs {

/// Takes the times of one worker's tasks, and, where a trace is wanted, writes down what it does.
class recorder final : public watcher {
 public:
  recorder() noexcept {}

  task_times times;

  /// Before the worker's first task. names: of the rank; they outlive the recorder.
  void trace_into(trace_ring_head* head, trace_record* records, std::uint64_t capacity, trace_names& names) noexcept {
    ring_.place(head, records, capacity);
    names_ = &names;
  }

  void task_began(const void* unit, const task_name& name, std::uint64_t flow) noexcept override {
    if (ring_.is_placed()) note(trace_kind::began, unit, flow, place_of(name));
  }
  void task_ended(const void* unit, const task_name& name, std::uint64_t nanoseconds) noexcept override {
    times.add(name, nanoseconds);
    note(trace_kind::ended, unit);
  }
  void went_on(const void* unit) noexcept override { note(trace_kind::went_on, unit); }
  void switched(const void* unit) noexcept override { note(trace_kind::switched, unit); }
  void woke(const void* unit) noexcept override { note(trace_kind::woke, unit); }
  void arrived(std::uint64_t flow) noexcept override { note(trace_kind::arrived, nullptr, flow); }
  void returned() noexcept override { note(trace_kind::returned, nullptr); }
  void started(const void* unit) noexcept override { note(trace_kind::started, unit); }
  void left(const void* unit, std::uint64_t flow) noexcept override { note(trace_kind::left, unit, flow); }
  void stole() noexcept override { note(trace_kind::stole, nullptr); }
  void sampled(std::uint64_t jobs) noexcept override { note(trace_kind::sampled, nullptr, jobs); }
  void region(std::string_view name, std::uint64_t id, bool begins) noexcept override {
    if (!ring_.is_placed()) return;
    note(begins ? trace_kind::region_began : trace_kind::region_ended, reinterpret_cast<const void*>(id), 0,
         place_of({nullptr, nullptr, name}));
  }

 private:
  void note(trace_kind kind, const void* unit, std::uint64_t value = 0, std::uint32_t name = 0) noexcept {
    if (!ring_.is_placed()) return;
    ring_.add({base::now().time_since_epoch().count(), reinterpret_cast<std::uintptr_t>(unit), value, kind, name});
  }

  /// The names of functions stay what they are, so the worker keeps where they lie.
  std::uint32_t place_of(const task_name& name) noexcept {
    if (name.find_out == nullptr) return names_->of(name);
    auto& known = known_[(reinterpret_cast<std::uintptr_t>(name.key) >> 4) % most_known];
    if (known.key != name.key || known.place == 0) known = {name.key, names_->of(name)};
    return known.place;
  }

  struct known_name {
    const void* key;
    std::uint32_t place;
  };
  static constexpr std::size_t most_known = 256;

  trace_ring ring_;
  trace_names* names_ = nullptr;
  known_name known_[most_known]{};
};

}  // namespace plait::obs
