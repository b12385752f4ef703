// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/base/block.hpp>
#include <plait/base/fifo.hpp>
#include <plait/base/function_ref.hpp>
#include <plait/base/growing_array.hpp>
#include <plait/net/mpi_protocol.hpp>
#include <plait/net/transport.hpp>

#include <cstddef>
#include <span>
#include <utility>

PLAIT_INTERFACE

namespace plait::net {

/// The frames that a rank gets by MPI. A ring of persistent receives is always posted. MPI matches them in the order in
/// which they were started, so the oldest is the one to test, and the order of the frames is kept. The bodies of large
/// frames are received into memory of their own when their announcements have come.
class mpi_inbox {
 public:
  /// comm: must outlive this; chunk: as the sender's.
  mpi_inbox(MPI_Comm comm, std::size_t chunk) : comm_(comm), chunk_(chunk), slots_(depth * eager_limit) {
    for (auto& request : requests_) request = MPI_REQUEST_NULL;
    for (std::size_t i = 0; i < depth; ++i) {
      check(MPI_Recv_init(slots_.data() + i * eager_limit, static_cast<int>(eager_limit), MPI_BYTE, MPI_ANY_SOURCE,
                          mpi_protocol::eager_tag, comm_, &requests_[i]),
            "MPI_Recv_init");
      check(MPI_Start(&requests_[i]), "MPI_Start");
    }
  }
  mpi_inbox(const mpi_inbox&) = delete;
  mpi_inbox& operator=(const mpi_inbox&) = delete;
  ~mpi_inbox() { close(); }

  /// Calls deliver(source, bytes) for frames that have arrived, at most `batch` small ones, and pulls(source) for
  /// each large one that is now being received. Returns how many were delivered.
  int poll(frame_handler deliver, function_ref<void(int source)> pulls) {
    int delivered = 0;
    moved_ = false;
    for (int messages = 0; messages < batch; ++messages) {
      int done = 0;
      MPI_Status status{};
      check(MPI_Test(&requests_[oldest_], &done, &status), "MPI_Test");
      if (done == 0) break;
      delivered += take_oldest(status, deliver);
    }
    if (receiving()) {
      post_bodies(pulls);
      delivered += poll_bodies(deliver);
    }
    return delivered;
  }

  /// Whether the last poll found a message complete.
  bool moved() const noexcept { return moved_; }

  /// Whether a large frame is announced and not complete.
  bool receiving() const noexcept { return !bodies_.empty() || !announced_.empty(); }

  /// Takes the receives back. Returns how many of them had got a frame that nobody polled; should be none.
  int close() noexcept {
    int lost = 0;
    if (!mpi_is_alive()) {
      leave_memory_to_mpi();
      return lost;
    }
    for (std::size_t i = 0; i < depth; ++i) {
      MPI_Request& request = requests_[(oldest_ + i) % depth];
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Status status{};
      int cancelled = 1;
      MPI_Cancel(&request);
      if (MPI_Wait(&request, &status) == MPI_SUCCESS) MPI_Test_cancelled(&status, &cancelled);
      if (cancelled == 0) ++lost;
      MPI_Request_free(&request);
    }
    for (body& unfinished : bodies_)
      for (MPI_Request& request : unfinished.chunks) {
        if (request == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    lost += static_cast<int>(bodies_.size() + announced_.size());
    bodies_.clear();
    announced_.clear();
    return lost;
  }

 private:
  static constexpr std::size_t depth = 16;
  static constexpr int batch = 64;
  static constexpr std::size_t receiving_limit = 64 << 20;  // bytes of bodies under way at a time, if more than one
  static constexpr std::size_t spare_limit = 64 << 20;

  struct announcement {
    int source;
    std::size_t size;
  };
  struct body {
    int source = 0;
    std::size_t size = 0;
    base::block bytes;  // perhaps larger
    base::growing_array<MPI_Request> chunks;
    std::size_t complete = 0;  // how many of them
  };

  int take_oldest(const MPI_Status& status, frame_handler deliver) {
    moved_ = true;
    const std::size_t current = std::exchange(oldest_, (oldest_ + 1) % depth);
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    const std::span<const std::byte> bytes(slots_.data() + current * eager_limit, static_cast<std::size_t>(size));
    const auto announced = mpi_protocol::announced_size(bytes);
    try {
      if (announced)
        announced_.push_back({status.MPI_SOURCE, static_cast<std::size_t>(*announced)});
      else
        deliver(status.MPI_SOURCE, bytes);
    } catch (...) {
      MPI_Start(&requests_[current]);
      throw;
    }
    check(MPI_Start(&requests_[current]), "MPI_Start");
    return announced ? 0 : 1;
  }

  int poll_bodies(frame_handler deliver) {
    int delivered = 0;
    for (std::size_t i = 0; i < bodies_.size();) {
      if (!is_complete(bodies_[i])) {
        ++i;
        continue;
      }
      body arrived = std::move(bodies_[i]);
      bodies_.erase(i);
      receiving_bytes_ -= arrived.size;
      ++delivered;
      deliver(arrived.source, {arrived.bytes.data(), arrived.size});
      keep_memory(std::move(arrived));
    }
    return delivered;
  }

  bool is_complete(body& incoming) {
    while (incoming.complete < incoming.chunks.size()) {
      int done = 0;
      check(MPI_Test(&incoming.chunks[incoming.complete], &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) return false;
      ++incoming.complete;
      moved_ = true;
    }
    return true;
  }

  /// In the order of the announcements, since MPI matches the chunks of one source in order. What exceeds the limit
  /// waits at its sender.
  void post_bodies(function_ref<void(int source)> pulls) {
    while (!announced_.empty() && (bodies_.empty() || receiving_bytes_ + announced_.front().size <= receiving_limit)) {
      const announcement next = announced_.front();
      body incoming = take_memory(next.size);
      incoming.source = next.source;
      incoming.chunks.reserve(mpi_protocol::chunks(next.size, chunk_));
      announced_.pop_front();
      bodies_.push_back(std::move(incoming));
      receiving_bytes_ += next.size;
      for (std::size_t at = 0; at < next.size; at += chunk_) {
        MPI_Request request = MPI_REQUEST_NULL;
        const auto size = static_cast<int>(next.size - at < chunk_ ? next.size - at : chunk_);
        check(MPI_Irecv(bodies_.back().bytes.data() + at, size, MPI_BYTE, next.source, mpi_protocol::body_tag, comm_,
                        &request),
              "MPI_Irecv");
        bodies_.back().chunks.push_back(request);
      }
      pulls(next.source);
    }
  }

  /// The first touch of fresh memory costs more than the copy into it, so the memory of one body is kept.
  body take_memory(std::size_t size) {
    body result;
    result.size = size;
    if (size > spare_.size() || size < spare_.size() / 4) {
      result.bytes = base::block(size);
    } else {
      result.bytes = std::move(spare_);
    }
    return result;
  }
  void keep_memory(body&& done) noexcept {
    if (done.bytes.size() <= spare_limit && done.bytes.size() >= spare_.size()) spare_ = std::move(done.bytes);
  }

  /// After MPI_Finalize nothing can be taken back; the network may still know the memory.
  void leave_memory_to_mpi() noexcept {
    static_cast<void>(slots_.release());
    for (body& unfinished : bodies_) static_cast<void>(unfinished.bytes.release());
  }

  MPI_Comm comm_;
  std::size_t chunk_;
  base::block slots_;
  MPI_Request requests_[depth];
  std::size_t oldest_ = 0;
  bool moved_ = false;

  base::fifo<announcement> announced_;  // not yet posted
  base::growing_array<body> bodies_;    // posted
  std::size_t receiving_bytes_ = 0;     // of bodies_
  base::block spare_;
};

}  // namespace plait::net

#endif  // PLAIT_WITH_MPI
