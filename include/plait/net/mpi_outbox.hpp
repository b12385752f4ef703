// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/net/mpi_protocol.hpp>
#include <plait/net/transport.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace plait::net {

/// The frames that a rank is sending by MPI. It keeps each alive until MPI has done with it.
class mpi_outbox {
 public:
  /// comm: must outlive this; chunk: the largest piece in which a large frame is sent, the same on all ranks.
  mpi_outbox(MPI_Comm comm, std::size_t chunk) : comm_(comm), chunk_(chunk) {}
  mpi_outbox(const mpi_outbox&) = delete;
  mpi_outbox& operator=(const mpi_outbox&) = delete;
  ~mpi_outbox() { close(); }

  /// Starts to send a frame.
  void send(int dest, frame&& bytes) {
    if (mpi_protocol::is_eager(bytes)) {
      sending item{start(dest, bytes.data(), bytes.size(), mpi_protocol::eager_tag), std::move(bytes), {}};
      keep(std::move(item));
      return;
    }
    frame announcement = new_frame();
    mpi_protocol::write_announcement(announcement, bytes.size());
    sending head{
        start(dest, announcement.data(), announcement.size(), mpi_protocol::eager_tag), std::move(announcement), {}};
    keep(std::move(head));
    sending body;
    body.rest.reserve(mpi_protocol::chunks(bytes.size(), chunk_));
    for (std::size_t at = 0; at < bytes.size(); at += chunk_)
      body.rest.push_back(start(dest, bytes.data() + at, std::min(chunk_, bytes.size() - at), mpi_protocol::body_tag));
    body.bytes = std::move(bytes);
    keep(std::move(body));
  }

  /// Looks at some of the unfinished sends, in turn.
  void progress() {
    for (std::size_t looks = std::min<std::size_t>(sending_.size(), 16); looks > 0 && !sending_.empty(); --looks) {
      if (cursor_ >= sending_.size()) cursor_ = 0;
      if (is_done(sending_[cursor_])) {
        recycle(std::move(sending_[cursor_].bytes));
        if (cursor_ + 1 != sending_.size()) sending_[cursor_] = std::move(sending_.back());
        sending_.pop_back();
      } else {
        ++cursor_;
      }
    }
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
        std::this_thread::yield();
      }
    } catch (const std::exception&) {
      // The memory is left to MPI as below.
    }
    abandon();
  }

 private:
  struct sending {
    MPI_Request request = MPI_REQUEST_NULL;
    frame bytes;
    std::vector<MPI_Request> rest;  // the chunks of a large frame
  };

  MPI_Request start(int dest, const std::byte* data, std::size_t size, int tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Isend(data, static_cast<int>(size), MPI_BYTE, dest, tag, comm_, &request), "MPI_Isend");
    return request;
  }

  /// Small sends are mostly complete when MPI_Isend returns; then nothing needs to be remembered.
  void keep(sending&& item) {
    if (is_done(item))
      recycle(std::move(item.bytes));
    else
      sending_.push_back(std::move(item));
  }

  static bool is_done(sending& item) {
    int done = 0;
    check(MPI_Test(&item.request, &done, MPI_STATUS_IGNORE), "MPI_Test");  // true at once for MPI_REQUEST_NULL
    while (done != 0 && !item.rest.empty()) {
      check(MPI_Test(&item.rest.back(), &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) item.rest.pop_back();
    }
    return done != 0;
  }

  void recycle(frame&& bytes) noexcept {
    if (spare_.size() == spare_frames || bytes.capacity() == 0 || bytes.capacity() > 2 * eager_limit) return;
    bytes.clear();
    spare_.push_back(std::move(bytes));  // within what the constructor reserved
  }

  void abandon() noexcept {
    if (sending_.empty()) return;
    static_cast<void>(new (std::nothrow) std::vector<sending>(std::move(sending_)));  // never freed: MPI may read it
    sending_.clear();
  }

  static constexpr std::size_t spare_frames = 64;

  MPI_Comm comm_;
  std::size_t chunk_;
  std::vector<sending> sending_;  // in no order
  std::size_t cursor_ = 0;        // who is looked at next
  std::vector<frame> spare_ = [] {
    std::vector<frame> list;
    list.reserve(spare_frames);
    return list;
  }();
};

}  // namespace plait::net

#endif  // PLAIT_WITH_MPI
