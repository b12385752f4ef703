// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>
#include <plait/base/number_map.hpp>
#include <plait/report/json_text.hpp>
#include <plait/report/trace_moments.hpp>
#include <plait/report/trace_part.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// One rank's part of a trace as events of the Trace Event Format (Google, 2016), which ui.perfetto.dev and
// chrome://tracing read.

PLAIT_INTERFACE

namespace plait::report {

/// Turns the records of a part into events, in the order of their times.
class trace_renderer {
 public:
  explicit trace_renderer(const trace_part_view& part) : part_(part) {}

  /// The events, each after a comma. dropped: the number of records that the rings have lost is added.
  std::string events(std::uint64_t& dropped) {
    const auto& head = part_.head();
    begin("M", head.rank, 0);
    out_ += ",\"name\":\"process_name\",\"args\":{\"name\":";
    std::string process = "rank " + std::to_string(head.rank) + " on ";
    process += std::string_view(head.host, ::strnlen(head.host, sizeof head.host));
    append_json(out_, process);
    out_ += "}}";
    for (std::uint32_t w = 0; w < head.workers; ++w) {
      begin("M", head.rank, w);
      append_format(out_, ",\"name\":\"thread_name\",\"args\":{\"name\":\"worker %d\"}}",
                    head.first_worker + static_cast<int>(w));
    }
    dropped += add_moments(moments_, part_, 0);
    order_moments(moments_.begin(), moments_.end());
    if (!moments_.empty()) last_ = moments_.back().record->time;
    stacks_.resize(head.workers);
    for (const auto& m : moments_) take(m.worker, *m.record);
    for (std::uint32_t w = 0; w < head.workers; ++w) {
      while (!stacks_[w].empty()) {
        close(w, stacks_[w].back(), last_);
        stacks_[w].pop_back();
      }
    }
    for (const auto& r : regions_) region("e", 0, last_, r);
    return std::move(out_);
  }

 private:
  /// What lies on a worker's stack: perhaps a slice that is open.
  struct frame {
    bool open = false;
    std::int64_t since = 0;
    std::uint64_t unit = 0;
  };
  double shown(std::int64_t time) const noexcept {
    return static_cast<double>(time + part_.head().clock_offset - part_.head().origin) * 1e-3;
  }
  void begin(const char* phase, int rank, std::uint32_t worker) {
    append_format(out_, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%u", phase, rank, worker);
  }
  void begin(const char* phase, std::uint32_t worker, std::int64_t time) {
    begin(phase, part_.head().rank, worker);
    append_format(out_, ",\"ts\":%.3f", shown(time));
  }
  std::uint64_t unique(std::uint64_t number) const noexcept {
    return static_cast<std::uint64_t>(part_.head().rank) << 40 | number;
  }

  void open(frame& f, std::uint64_t unit, std::int64_t time) noexcept { f = {true, time, unit}; }
  void close(std::uint32_t worker, frame& f, std::int64_t time) {
    if (!f.open) return;
    f.open = false;
    const auto* const known = tasks_.find(f.unit);
    begin("X", worker, f.since);
    append_format(out_, ",\"dur\":%.3f,\"name\":", static_cast<double>(time - f.since) * 1e-3);
    const auto name = known == nullptr ? std::string_view() : part_.name(static_cast<std::uint32_t>(*known));
    append_json(out_, name.empty() ? std::string_view("(forked)") : name);
    if (known != nullptr) append_format(out_, ",\"args\":{\"task\":%llu}", id(unique(*known >> 32)));
    out_ += "}";
  }
  static unsigned long long id(std::uint64_t number) noexcept { return number; }

  void flow(const char* phase, std::uint32_t worker, std::int64_t time, std::uint64_t number, bool across) {
    begin(phase, worker, time);
    append_format(out_, ",\"id\":\"%s%llx\",\"cat\":\"task\",\"name\":\"start\"%s}", across ? "r" : "t", id(number),
                  phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
  }

  void take(std::uint32_t w, const obs::trace_record& r) {
    auto& stack = stacks_[w];
    switch (r.kind) {
      case obs::trace_kind::began: {
        tasks_.set(r.unit, ++numbers_ << 32 | r.name);
        stack.push_back({});
        open(stack.back(), r.unit, r.time);
        const auto* const start = starts_.find(r.unit);
        if (r.value != 0) {
          flow("f", w, r.time, r.value, true);
        } else if (start != nullptr) {
          flow("f", w, r.time, unique(*start), false);
        }
        return starts_.erase(r.unit);
      }
      case obs::trace_kind::ended:
        if (!stack.empty() && stack.back().unit == r.unit) close(w, stack.back(), r.time);
        tasks_.erase(r.unit);
        return;
      case obs::trace_kind::went_on:
        stack.push_back({});
        if (r.unit != 0) open(stack.back(), r.unit, r.time);
        return;
      case obs::trace_kind::switched:
        if (stack.empty()) stack.push_back({});
        close(w, stack.back(), r.time);
        open(stack.back(), r.unit, r.time);
        return;
      case obs::trace_kind::returned:
        if (stack.empty()) return;  // its beginning was dropped
        close(w, stack.back(), r.time);
        stack.pop_back();
        return;
      case obs::trace_kind::started:
        starts_.set(r.unit, ++numbers_);
        return flow("s", w, r.time, unique(numbers_), false);
      case obs::trace_kind::left:
        return flow("s", w, r.time, r.value, true);
      case obs::trace_kind::stole:
        begin("i", w, r.time);
        out_ += ",\"s\":\"t\",\"name\":\"steal\"}";
        return;
      case obs::trace_kind::sampled:
        begin("C", w, r.time);
        append_format(out_, ",\"name\":\"jobs of worker %d\",\"args\":{\"jobs\":%llu}}",
                      part_.head().first_worker + static_cast<int>(w), id(r.value));
        return;
      case obs::trace_kind::woke:
      case obs::trace_kind::arrived:
        return;
      case obs::trace_kind::region_began:
        regions_.push_back({r.unit, r.name});
        return region("b", w, r.time, regions_.back());
      case obs::trace_kind::region_ended:
        for (std::size_t i = 0; i < regions_.size(); ++i) {  // unless its beginning was dropped
          if (regions_[i].number != r.unit) continue;
          region("e", w, r.time, regions_[i]);
          return regions_.erase(i);
        }
        return;
    }
  }

  struct known_region {
    std::uint64_t number;
    std::uint32_t name;
  };
  void region(const char* phase, std::uint32_t worker, std::int64_t time, const known_region& r) {
    begin(phase, worker, time);
    append_format(out_, ",\"cat\":\"region\",\"id\":\"%llx\",\"name\":", id(unique(r.number)));
    append_json(out_, part_.name(r.name));
    out_ += "}";
  }

  const trace_part_view part_;
  std::string out_;
  base::growing_array<trace_moment> moments_;
  base::growing_array<base::growing_array<frame>> stacks_;
  base::number_map tasks_;                     ///< that have not ended: number and name, by unit
  base::number_map starts_;                    ///< of tasks that have not begun: number, by unit
  base::growing_array<known_region> regions_;  ///< that have not ended
  std::uint64_t numbers_ = 0;
  std::int64_t last_ = 0;
};

/// A whole trace: what the parts' events make together.
inline std::string whole_trace(std::string_view events, std::uint64_t dropped) {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":\"plait\",";
  append_format(out, "\"dropped\":%llu},\n\"traceEvents\":[", static_cast<unsigned long long>(dropped));
  if (!events.empty()) events.remove_prefix(1);  // the first comma
  out += events;
  out += "\n]}\n";
  return out;
}

}  // namespace plait::report
