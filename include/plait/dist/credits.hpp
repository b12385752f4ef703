// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/base/fifo.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/dist/messages.hpp>
#include <plait/net/transport.hpp>
#include <plait/wire/framing.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

// Flow control of the tasks that are submitted to a place (what idle ranks ask for is bounded by their asking). A rank
// has at most a window of them waiting at another rank; more stay at home, packed, until some there have started. So
// a slow rank holds a window for each rank that feeds it, and nobody ever waits to submit.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

struct credit {
  /// Bytes that may wait at a rank, from one other rank.
  static constexpr std::uint64_t window = 8 * 1024 * 1024;
  /// So many bytes that have started are worth a message.
  static constexpr std::uint64_t batch = window / 4;
  /// What a waiting task takes beside its arguments, about.
  static constexpr std::uint64_t overhead = 256;

  /// Of a task's message.
  static constexpr std::uint64_t cost(std::size_t payload) noexcept { return payload + overhead; }
};

/// A rank's tasks for one other rank: how much is under way, and what waits at home, as frames. Not thread-safe.
class outflow {
 public:
  /// Whether a message has to wait: a task that counts and is beyond the window, and what must not overtake tasks.
  bool must_hold(message kind, bool counts) const noexcept {
    if (counts) return !held_.empty() || under_way_ >= credit::window;
    return kind == message::stop && !held_.empty();
  }

  /// Keeps a message. If `fill(writer&)` throws, it is not kept.
  void hold(message kind, std::uint32_t epoch, function_ref<void(wire::writer&)> fill, bool counts) {
    if (held_.empty() || held_.back().bytes.size() + last_ > net::eager_limit) open_frame();
    auto& frame = held_.back();
    const auto before = frame.bytes.size();
    const auto payload = append(frame.bytes, kind, epoch, fill);
    last_ = frame.bytes.size() - before;
    const auto cost = counts ? credit::cost(payload) : 0;
    if (before != 0 && frame.bytes.size() > net::eager_limit) {  // larger ones than that lie alone
      net::frame own;
      try {
        own.assign(frame.bytes.begin() + static_cast<std::ptrdiff_t>(before), frame.bytes.end());
      } catch (...) {
        frame.bytes.resize(before);
        throw;
      }
      frame.bytes.resize(before);
      frame.bytes.shrink_to_fit();
      held_.push_back({std::move(own), cost});
    } else {
      frame.cost += cost;
    }
  }
  /// A task that counts, with such a payload, goes at once.
  void sent(std::size_t payload) noexcept { under_way_ += credit::cost(payload); }

  /// So much has started there. Calls send(frame&&) for what may go now.
  void returned(std::uint64_t cost, function_ref<void(net::frame&&)> send) {
    if (cost > under_way_) throw error("plait: a rank returns more credit than it has got: a message is damaged");
    under_way_ -= cost;
    while (!held_.empty() && under_way_ < credit::window) {
      auto next = held_.pop_front();
      under_way_ += next.cost;
      if (!next.bytes.empty()) send(std::move(next.bytes));  // what was to be the first in it could not be written
    }
  }

  /// Appends a message to a frame. Returns the size of its payload.
  static std::size_t append(net::frame& frame, message kind, std::uint32_t epoch,
                            function_ref<void(wire::writer&)> fill) {
    std::size_t payload = 0;
    wire::frame_builder builder(frame);
    builder.add(static_cast<std::uint16_t>(kind), epoch, [&](wire::writer& out) {
      const auto before = out.size();
      fill(out);
      payload = out.size() - before;
    });
    return payload;
  }

 private:
  struct held_frame {
    net::frame bytes;
    std::uint64_t cost;
  };

  void open_frame() {
    held_frame next{{}, 0};
    next.bytes.reserve(net::eager_limit);
    held_.push_back(std::move(next));
    last_ = 0;
  }

  base::fifo<held_frame> held_;
  std::uint64_t under_way_ = 0;
  std::size_t last_ = 0;  // the size of the message that was kept last
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
