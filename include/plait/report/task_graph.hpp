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

// Which tasks have started and awaited which, by name, and how long the longest chain of them is.

PLAIT_INTERFACE

namespace plait::report {

/// Made of the parts of a trace. Each time in which a worker ran a task is a segment. A path is the longest chain of
/// segments of which each could begin only when the one before had come so far: a task begins after what its parent did
/// before it started it, and goes on after the end of what it awaited. The longest path is the span, all segments
/// together are the work (Blumofe and Leiserson 1999). Forked tasks count as parts of those that fork them.
class task_graph {
 public:
  explicit task_graph(const base::growing_array<trace_part_view>& parts) : parts_(parts) {
    base::growing_array<trace_moment> all;
    for (std::uint32_t p = 0; p < parts.size(); ++p) {
      dropped_ += add_moments(all, parts[p], p);
      first_worker_.push_back(workers_.size());
      workers_.resize(workers_.size() + parts[p].head().workers);
    }
    order_moments(all.begin(), all.end());
    for (const auto& m : all) take(m);
  }

  /// Seconds.
  double work() const noexcept { return static_cast<double>(work_) * 1e-9; }
  double span() const noexcept { return static_cast<double>(span_) * 1e-9; }
  /// Work of span; 0 where nothing ran.
  double parallelism() const noexcept { return span_ == 0 ? 0 : work() / span(); }
  /// Records that the rings have lost: then the graph is not whole.
  std::uint64_t dropped() const noexcept { return dropped_; }

  /// In the language of Graphviz: a node a name, with the number and the time of its tasks; a solid edge from who
  /// starts to what is started, a dashed one from what is awaited to who awaits it, with their numbers.
  std::string dot() const {
    std::string out = "digraph tasks {\n  node [shape=box];\n";
    append_format(out, "  label=\"work %.6f s, span %.6f s, average parallelism %.2f", work(), span(), parallelism());
    if (dropped_ != 0) append_format(out, "; not whole: %llu records lost", static_cast<unsigned long long>(dropped_));
    out += "\";\n";
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      append_format(out, "  n%zu [label=", i);
      append_json(out, nodes_[i].name.size() == 0 ? std::string_view("(unknown)") : std::string_view(nodes_[i].name));
      out.pop_back();
      append_format(out, "\\n%llu, %.6f s\"];\n", static_cast<unsigned long long>(nodes_[i].count),
                    static_cast<double>(nodes_[i].busy) * 1e-9);
    }
    for (const auto& e : edges_) {
      append_format(out, "  n%u -> n%u [label=\"%llu\"%s];\n", e.from, e.to, static_cast<unsigned long long>(e.count),
                    e.awaits ? ", style=dashed" : "");
    }
    return out + "}\n";
  }

 private:
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  struct node {
    base::text name;
    std::uint64_t count = 0;
    std::int64_t busy = 0;
  };
  struct edge {
    std::uint32_t from, to;
    bool awaits;
    std::uint64_t count;
  };
  /// A task from its start on. path: the longest one to where it begins or goes on next.
  struct known_task {
    std::uint32_t node;
    std::int64_t path;
    std::uint64_t flow;
  };
  /// What lies on a worker's stack.
  struct frame {
    std::uint32_t task = none;  ///< that runs, in a segment that began at `since`
    std::int64_t since = 0;
  };
  struct worker_state {
    base::growing_array<frame> stack;
    // What ended, or arrived, last: what is woken then waits for it.
    std::int64_t path = 0;
    std::uint32_t node = none;
  };
  /// How far a path has come at a place, and of which node that is.
  struct reached {
    std::int64_t path;
    std::uint32_t node;
  };

  static std::uint64_t key(std::uint32_t part, std::uint64_t unit) noexcept {
    return unit ^ (static_cast<std::uint64_t>(part) + 1) << 48;
  }

  std::uint32_t node_of(std::string_view name) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].name == name) return i;
    }
    nodes_.push_back({base::text(name), 0, 0});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void count_edge(std::uint32_t from, std::uint32_t to, bool awaits) {
    if (from == none || to == none) return;
    for (auto& e : edges_) {
      if (e.from != from || e.to != to || e.awaits != awaits) continue;
      ++e.count;
      return;
    }
    edges_.push_back({from, to, awaits, 1});
  }

  known_task* find_task(std::uint32_t part, std::uint64_t unit) noexcept {
    const auto* at = by_unit_.find(key(part, unit));
    return at == nullptr ? nullptr : &tasks_[static_cast<std::size_t>(*at)];
  }

  /// Where the path of what the worker runs is now; of what it ended last, where it runs nothing.
  reached now(const worker_state& w, std::int64_t time) const noexcept {
    if (w.stack.empty() || w.stack.back().task == none) return {w.path, w.node};
    const auto& t = tasks_[w.stack.back().task];
    return {t.path + time - w.stack.back().since, t.node};
  }
  /// Ends the segment that the worker is in; the task stays on its stack.
  void pause(worker_state& w, std::int64_t time) {
    if (w.stack.empty() || w.stack.back().task == none) return;
    auto& f = w.stack.back();
    auto& t = tasks_[f.task];
    const auto length = time - f.since;
    t.path += length;
    nodes_[t.node].busy += length;
    work_ += length;
    if (t.path > span_) span_ = t.path;
    w.path = t.path;
    w.node = t.node;
    f.since = time;
  }
  /// The same, and the task leaves.
  void close(worker_state& w, std::int64_t time) {
    pause(w, time);
    if (!w.stack.empty()) w.stack.back().task = none;
  }
  /// Something runs on top of a task that blocks its worker.
  void push(worker_state& w, std::int64_t time) {
    pause(w, time);
    w.stack.push_back({});
  }
  void pop(worker_state& w, std::int64_t time) {
    close(w, time);
    w.stack.pop_back();
    if (!w.stack.empty()) w.stack.back().since = time;
  }
  void open(worker_state& w, const known_task* t, std::int64_t time) {
    if (t != nullptr) w.stack.back() = {static_cast<std::uint32_t>(t - tasks_.begin()), time};
  }
  /// A task waits for what a path has reached.
  void wait_for(known_task* t, const reached& what) {
    if (t == nullptr) return;
    if (what.path > t->path) t->path = what.path;
    count_edge(what.node, t->node, true);
  }

  void remember(base::number_map& places, std::uint64_t at, const reached& what) {
    places.set(at, reached_.size());
    reached_.push_back(what);
  }
  const reached* recall(base::number_map& places, std::uint64_t at) const noexcept {
    const auto* found = places.find(at);
    return found == nullptr ? nullptr : &reached_[static_cast<std::size_t>(*found)];
  }

  void begin_task(worker_state& w, const trace_moment& m) {
    const auto& r = *m.record;
    const auto unit = key(m.part, r.unit);
    const auto* start = r.value != 0 ? recall(left_, r.value) : recall(started_, unit);
    const auto of = node_of(parts_[m.part].name(r.name));
    ++nodes_[of].count;
    if (start != nullptr) count_edge(start->node, of, false);
    by_unit_.set(unit, tasks_.size());
    tasks_.push_back({of, start == nullptr ? 0 : start->path, r.value});
    started_.erase(unit);
    push(w, m.time);
    open(w, &tasks_.back(), m.time);
  }

  void take(const trace_moment& m) {
    const auto& r = *m.record;
    auto& w = workers_[first_worker_[m.part] + m.worker];
    switch (r.kind) {
      case obs::trace_kind::began:
        return begin_task(w, m);
      case obs::trace_kind::ended:
        close(w, m.time);
        if (const auto* t = find_task(m.part, r.unit); t != nullptr && t->flow != 0)
          remember(ends_, t->flow, {t->path, t->node});
        return by_unit_.erase(key(m.part, r.unit));
      case obs::trace_kind::went_on:
        push(w, m.time);
        if (r.unit != 0) open(w, find_task(m.part, r.unit), m.time);
        return;
      case obs::trace_kind::switched: {
        close(w, m.time);
        if (w.stack.empty()) w.stack.push_back({});
        auto* t = find_task(m.part, r.unit);
        wait_for(t, {w.path, w.node});
        return open(w, t, m.time);
      }
      case obs::trace_kind::woke:
        return wait_for(find_task(m.part, r.unit), now(w, m.time));
      case obs::trace_kind::arrived:
        if (const auto* end = recall(ends_, r.value)) {
          w.path = end->path;
          w.node = end->node;
        }
        return;
      case obs::trace_kind::returned:
        if (w.stack.empty()) return;  // its beginning was dropped
        return pop(w, m.time);
      case obs::trace_kind::started:
        return remember(started_, key(m.part, r.unit), now(w, m.time));
      case obs::trace_kind::left:
        if (const auto* start = recall(started_, key(m.part, r.unit))) {
          const auto copy = *start;
          remember(left_, r.value, copy);
        }
        return;
      case obs::trace_kind::stole:
      case obs::trace_kind::sampled:
      case obs::trace_kind::region_began:
      case obs::trace_kind::region_ended:
        return;
    }
  }

  const base::growing_array<trace_part_view>& parts_;
  base::growing_array<std::size_t> first_worker_;  ///< of each part, among workers_
  base::growing_array<worker_state> workers_;
  base::growing_array<node> nodes_;
  base::growing_array<edge> edges_;
  base::growing_array<known_task> tasks_;
  base::growing_array<reached> reached_;
  base::number_map by_unit_, started_, left_, ends_;  ///< places in the two arrays above
  std::int64_t work_ = 0;
  std::int64_t span_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace plait::report
