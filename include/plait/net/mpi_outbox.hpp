// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/base/clock.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/base/pause.hpp>
#include <plait/net/mpi_protocol.hpp>
#include <plait/net/transport.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <utility>

PLAIT_INTERFACE

namespace plait::net {

/// The frames that a rank is sending by MPI. It keeps each alive until MPI has done with it.
class mpi_outbox {
 public:
  /// comm: must outlive this; chunk: the largest piece in which a large frame is sent, the same on all ranks.
  mpi_outbox(MPI_Comm comm, std::size_t chunk) : comm_(comm), chunk_(chunk) { spare_.reserve(spare_frames); }
  mpi_outbox(const mpi_outbox&) = delete;
  mpi_outbox& operator=(const mpi_outbox&) = delete;
  ~mpi_outbox() { close(); }

  /// Starts to send a frame.
  void send(int dest, frame&& bytes) {
    if (sending_.capacity() - sending_.size() < 2) sending_.reserve(2 * sending_.capacity() + 16);  // may throw here
    if (mpi_protocol::is_eager(bytes)) return send_small(dest, std::move(bytes));
    sending body;
    body.bytes = std::move(bytes);
    body.chunks.reserve(mpi_protocol::chunks(body.bytes.size(), chunk_));
    frame announcement = new_frame();
    mpi_protocol::write_announcement(announcement, body.bytes.size());
    send_small(dest, std::move(announcement));
    for (std::size_t at = 0; at < body.bytes.size(); at += chunk_) {
      const auto left = body.bytes.size() - at;
      body.chunks.push_back(start(dest, body.bytes.data() + at, left < chunk_ ? left : chunk_, mpi_protocol::body_tag));
    }
    sending_.push_back(std::move(body));
  }

  /// Looks at some of the unfinished sends, in turn. Returns whether any message was found to be complete.
  bool progress() {
    bool moved = false;
    for (auto looks = sending_.size() < 16 ? sending_.size() : 16; looks > 0 && !sending_.empty(); --looks) {
      if (cursor_ >= sending_.size()) cursor_ = 0;
      if (is_done(sending_[cursor_], moved)) {
        recycle(std::move(sending_[cursor_].bytes));
        if (cursor_ + 1 != sending_.size()) sending_[cursor_] = std::move(sending_.back());
        sending_.pop_back();
      } else {
        ++cursor_;
      }
    }
    return moved;
  }

  /// Whether a send is unfinished.
  bool pending() const noexcept { return !sending_.empty(); }

  /// An empty frame, with the memory of one that was sent if there is some.
  frame new_frame() {
    if (spare_.empty()) return {};
    frame result = std::move(spare_.back());
    spare_.pop_back();
    return result;
  }

  /// Waits a little for what is unfinished, which should be nothing. What is unfinished even then is left to MPI for
  /// good, with its memory.
  void close() noexcept {
    if (sending_.empty() || !mpi_is_alive()) return abandon();
    try {
      const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
      while (!sending_.empty() && std::chrono::steady_clock::now() < limit) {
        progress();
        base::give_way();
      }
    } catch (const std::exception&) {
      // The memory is left to MPI as below.
    }
    abandon();
  }

 private:
  struct sending {
    MPI_Request request = MPI_REQUEST_NULL;  // of a small frame
    frame bytes;
    base::growing_array<MPI_Request> chunks;  // of a large one
    std::size_t complete = 0;                 // how many of them
  };

  MPI_Request start(int dest, const std::byte* bytes, std::size_t size, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(bytes, static_cast<int>(size), MPI_BYTE, dest, tag, comm_, &request), "MPI_Isend");
    return request;
  }

  /// Small sends are mostly complete when MPI_Isend returns; then nothing needs to be remembered.
  void send_small(int dest, frame&& bytes) {
    sending item;
    item.request = start(dest, bytes.data(), bytes.size(), mpi_protocol::eager_tag);
    item.bytes = std::move(bytes);
    if (bool moved = false; is_done(item, moved))
      recycle(std::move(item.bytes));
    else
      sending_.push_back(std::move(item));
  }

  static bool test(MPI_Request& request, bool& moved) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) moved = true;
    return done != 0;
  }

  static bool is_done(sending& item, bool& moved) {
    if (item.chunks.empty()) return test(item.request, moved);
    while (item.complete < item.chunks.size() && test(item.chunks[item.complete], moved)) ++item.complete;
    return item.complete == item.chunks.size();
  }

  void recycle(frame&& bytes) noexcept {
    if (spare_.size() == spare_frames || bytes.capacity() == 0 || bytes.capacity() > 2 * eager_limit) return;
    bytes.clear();
    spare_.push_back(std::move(bytes));  // within what the constructor reserved
  }

  void abandon() noexcept {
    if (sending_.empty()) return;
    static_cast<void>(new (std::nothrow)
                          base::growing_array<sending>(std::move(sending_)));  // never freed: MPI may read it
    sending_.clear();
  }

  static constexpr std::size_t spare_frames = 64;

  MPI_Comm comm_;
  std::size_t chunk_;
  base::growing_array<sending> sending_;  // in no order
  std::size_t cursor_ = 0;                // who is looked at next
  base::growing_array<frame> spare_;
};

}  // namespace plait::net

#endif  // PLAIT_WITH_MPI
