// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/dist/node.hpp>
#include <plait/obs/recorder.hpp>
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

/// This rank's part of a trace, from the beginning of a runtime to its end.
class tracing {
 public:
  /// Throws plait::error where the part's file can't be made.
  tracing(std::string name, node& home, std::uint64_t ring_records)
      : name_(std::move(name)), part_(name_ + ".part" + std::to_string(home.rank()), home.pool().size(), ring_records) {
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

  /// Collective, when no worker records any more: rank 0 makes one file of all parts, which go. What goes wrong is said
  /// on stderr, and the parts stay.
  void merge(net::transport& transport) noexcept {
    std::string mine, all;
    std::uint64_t dropped = 0;
    bool fine = true;
    try {
      mine = report::trace_renderer(part_).events(dropped);
    } catch (...) {
      fine = false;
    }
    try {
      std::uint64_t all_dropped = 0;
      for (const auto n : transport.gather_all(static_cast<std::int64_t>(dropped)))
        all_dropped += static_cast<std::uint64_t>(n);
      for (int r = 0; r < transport.size(); ++r) {
        std::vector<std::byte> bytes;
        if (r == transport.rank())
          bytes.assign(reinterpret_cast<const std::byte*>(mine.data()),
                       reinterpret_cast<const std::byte*>(mine.data() + mine.size()));
        transport.broadcast(bytes, r);
        if (transport.rank() == 0) all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
      if (transport.rank() == 0) fine = write(report::whole_trace(all, all_dropped)) && fine;
      for (const auto n : transport.gather_all(fine ? 1 : 0)) fine = fine && n != 0;
    } catch (...) {
      fine = false;
    }
    if (fine) return part_.remove();
    std::fprintf(stderr, "plait: rank %d: the trace %s could not be written whole; this rank's part is in %s.part%d\n",
                 transport.rank(), name_.c_str(), name_.c_str(), transport.rank());
  }

 private:
  bool write(const std::string& text) const noexcept {
    std::FILE* out = std::fopen(name_.c_str(), "w");
    if (out == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    return std::fclose(out) == 0 && written;
  }

  std::string name_;
  report::trace_part_file part_;
  obs::trace_names names_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
