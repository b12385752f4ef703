// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/dist/node.hpp>
#include <plait/obs/recorder.hpp>
#include <plait/report/task_graph.hpp>
#include <plait/report/trace_json.hpp>
#include <plait/report/trace_part.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// This rank's part of a trace, from the beginning of a runtime to its end, and what is made of all parts then.
class tracing {
 public:
  /// The files to be made; empty: not.
  struct names {
    std::string trace, graph;
    /// What the files of the parts begin with.
    const std::string& of_parts() const noexcept { return trace.empty() ? graph : trace; }
  };

  /// Throws plait::error where the part's file can't be made.
  tracing(names files, node& home, std::uint64_t ring_records)
      : files_(std::move(files)),
        part_(files_.of_parts() + ".part" + std::to_string(home.rank()), home.pool().size(), ring_records) {
    auto& head = part_.head();
    head.rank = home.rank();
    head.first_worker = home.numbers().first_of(home.rank());
    const auto host = home.transport().host_name();
    std::memcpy(head.host, host.data(), host.size() < sizeof head.host ? host.size() : sizeof head.host - 1);
    names_.place(part_.names(), head.names_capacity, &head.names_used);
  }

  /// Collective. Times of ranks on one host are of one clock. Those of other hosts are compared when all have left a
  /// barrier, several times, and the difference in the middle counts.
  void align_clocks(net::transport& transport) {
    constexpr std::size_t rounds = 9;
    std::int64_t differences[rounds];
    const auto now = [] { return static_cast<std::int64_t>(base::now().time_since_epoch().count()); };
    const auto at = static_cast<std::size_t>(transport.rank());
    for (auto& d : differences) {
      transport.barrier();
      const auto times = transport.gather_all(now());
      d = times[0] - times[at];
    }
    for (std::size_t i = 1; i < rounds; ++i) {
      for (auto k = i; k > 0 && differences[k] < differences[k - 1]; --k) std::swap(differences[k], differences[k - 1]);
    }
    const bool same_host = transport.host_of(transport.rank()) == transport.host_of(0);
    part_.head().clock_offset = same_host ? 0 : differences[rounds / 2];
    part_.head().origin = transport.gather_all(now())[0];
  }

  void watch(obs::recorder& r, std::uint32_t worker) noexcept {
    r.trace_into(&part_.ring(worker), part_.records(worker), part_.head().ring_records, names_);
  }

  /// Collective, when no worker records any more: rank 0 makes the files of all parts, which go. What goes wrong is
  /// said on stderr, and the parts stay.
  void merge(net::transport& transport) noexcept {
    bool fine = true;
    try {
      std::vector<std::vector<std::byte>> all;
      for (int r = 0; r < transport.size(); ++r) {
        std::vector<std::byte> bytes;
        if (r == transport.rank()) bytes.assign(part_.data(), part_.data() + part_.size());
        transport.broadcast(bytes, r);
        if (transport.rank() == 0) all.push_back(std::move(bytes));
      }
      if (transport.rank() == 0) fine = make_files(all);
      fine = transport.gather_all(fine ? 1 : 0)[0] != 0;
    } catch (...) {
      fine = false;
    }
    if (fine) return part_.remove();
    const auto* name = files_.of_parts().c_str();
    std::fprintf(stderr, "plait: rank %d: the trace %s could not be written whole; this rank's part is in %s.part%d\n",
                 transport.rank(), name, name, transport.rank());
  }

 private:
  bool make_files(std::vector<std::vector<std::byte>>& all) const {
    base::growing_array<report::trace_part_view> parts;
    for (auto& bytes : all) parts.push_back(report::trace_part_view(bytes.data(), bytes.size()));
    bool fine = true;
    if (!files_.trace.empty()) {
      std::string events;
      std::uint64_t dropped = 0;
      for (const auto& p : parts) events += report::trace_renderer(p).events(dropped);
      fine = write(files_.trace, report::whole_trace(events, dropped));
    }
    if (!files_.graph.empty()) {
      const report::task_graph graph(parts);
      fine = write(files_.graph, graph.dot()) && fine;
      std::fprintf(stderr, "plait: tasks: work %.6f s, span %.6f s, average parallelism %.2f\n", graph.work(),
                   graph.span(), graph.parallelism());
      if (graph.dropped() != 0) {
        std::fprintf(stderr,
                     "plait: tasks: %llu records are lost, so this is too little: PLAIT_TRACE_RING keeps more\n",
                     static_cast<unsigned long long>(graph.dropped()));
      }
    }
    return fine;
  }

  static bool write(const std::string& name, const std::string& text) noexcept {
    std::FILE* out = std::fopen(name.c_str(), "w");
    if (out == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    return std::fclose(out) == 0 && written;
  }

  names files_;
  report::trace_part_file part_;
  obs::trace_names names_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
