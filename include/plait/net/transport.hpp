// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/clock.hpp>
#include <plait/base/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

PLAIT_INTERFACE

namespace plait::net {

/// What a rank sends: a block of bytes, at least one.
using frame = std::vector<std::byte>;

/// Frames up to this size keep their order between two ranks and travel without a copy of memory made for them alone.
inline constexpr std::size_t eager_limit = 16 * 1024;

/// Gets each frame that arrives: the rank it came from, and its bytes. They lie at an address divisible by 16 and are
/// valid during the call. It may call send(), new_frame() and wake() of the transport, nothing else of it. If it
/// throws, the exception leaves poll(), that frame counts as delivered, and later ones are kept for the next poll.
using frame_handler = function_ref<void(int source, std::span<const std::byte> bytes)>;

/// One rank's end of the connections between the ranks of a job.
///
/// Threads: one thread at a time calls it, the caller provides the lock. Exceptions: wake() may be called by any thread
/// at any time; prepare_sleep() and sleep() need no lock, but only one thread at a time may be from one to the other.
///
/// Delivery: each frame that is sent arrives once. Frames of up to `eager_limit` bytes arrive in the order in which
/// they were sent from one rank to another; larger ones may be overtaken, by any. A rank may send to itself. Nothing
/// bounds what is under way: who sends keeps account of it.
///
/// Progress: nothing moves unless both sides call poll() now and then.
///
/// End: before an end is destroyed, all frames that were sent to it have been delivered and its own sends are complete.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// This end's number, from 0.
  virtual int rank() const noexcept = 0;
  /// The number of ranks.
  virtual int size() const noexcept = 0;

  /// An empty frame, with memory of an earlier one if there is some.
  virtual frame new_frame() { return {}; }

  /// Starts to send `bytes` to `dest` and returns at once; the transport owns them from here. Any size from one byte.
  virtual void send(int dest, frame&& bytes) = 0;

  /// Completes sends and hands frames that have arrived to `handler`, a bounded number of them. Returns how many.
  virtual int poll(frame_handler handler) = 0;

  /// Whether a send is not yet complete, so that poll() must go on being called for the sake of the receiver.
  virtual bool sends_pending() const noexcept = 0;

  /// First half of going to sleep. Then the caller looks at its own queues and polls, once more, and calls
  /// sleep(ticket, ...) if all that gave nothing. If it gave something there is nothing to undo.
  virtual std::uint64_t prepare_sleep() noexcept = 0;

  /// Sleeps until a frame is on its way to this rank, or somebody calls wake() after the ticket was taken, or `at_most`
  /// has passed. It may return earlier for no reason, and does so where the transport has work of its own to finish;
  /// the caller polls again. Calls nothing that needs the lock.
  virtual void sleep(std::uint64_t ticket, std::chrono::nanoseconds at_most) noexcept = 0;

  /// Ends a sleep of this rank, also one that is prepared and has not begun.
  virtual void wake() noexcept = 0;

  /// Collective: gives every rank the bytes of `root`. Blocks, and leaves the core to others. For start-up.
  virtual void broadcast(std::vector<std::byte>& bytes, int root) = 0;

  /// Collective: every rank's value, by rank. Blocks, and leaves the core to others. For start-up.
  virtual std::vector<std::int64_t> gather_all(std::int64_t value) = 0;

  /// Collective: returns when all ranks have called it. Delivers no frames.
  virtual void barrier() = 0;

  /// A barrier with a time limit: whether all ranks came. After false this rank still counts as having come, and the
  /// next collective it calls must be barrier() or try_barrier(), which goes on with the same barrier.
  virtual bool try_barrier(std::chrono::nanoseconds at_most) = 0;

  /// The host of a rank, as a small number from 0, dense; ranks with the same one share a machine.
  virtual int host_of(int rank) const = 0;

  /// The name of this rank's host.
  virtual std::string_view host_name() const noexcept = 0;

  /// Whether this host has more ranks than cores for them: then those who poll should yield rather than spin.
  virtual bool crowded() const noexcept = 0;
};

}  // namespace plait::net
