// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/base/clock.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/pause.hpp>
#include <plait/net/doorbell.hpp>
#include <plait/net/mpi_hosts.hpp>
#include <plait/net/mpi_inbox.hpp>
#include <plait/net/mpi_outbox.hpp>
#include <plait/net/transport.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait::net {

/// How an mpi_transport works. The defaults serve; the rest is for tests and odd machines.
struct mpi_transport_options {
  /// Whether this rank shares memory with others of its host to be woken by them. Without it sleeps are timed.
  bool use_segment = true;
  /// The largest message into which large frames are cut, in bytes, at most 1 GiB; the same on all ranks.
  std::size_t chunk = mpi_protocol::chunk_limit;
};

/// The transport between the ranks of a communicator of its own.
///
/// A rank that sleeps is woken by a frame at once if all ranks share memory. Where some do not, the sleep is timed,
/// from 50 microseconds to 1 millisecond, the longer the quieter it has been. Construction is collective. Destruction
/// is local, and touches nothing if MPI has been finalised.
class mpi_transport final : public transport {
 public:
  /// comm: a duplicate made for this transport alone, on all its ranks. Throws mpi_error.
  explicit mpi_transport(communicator comm, mpi_transport_options options = {})
      : comm_(std::move(comm)),
        rank_(comm_.rank()),
        size_(comm_.size()),
        host_name_(this_host_name()),
        hosts_(comm_.get(), rank_, size_, options.use_segment),
        slot_(hosts_.slot_of(rank_)),
        bell_(slot_ < 0 ? own_bell_ : hosts_.segment().bell(slot_)),
        scope_(slot_ < 0 ? base::futex_scope::process : base::futex_scope::shared),
        outbox_(comm_.get(), options.chunk),
        inbox_(comm_.get(), options.chunk) {}

  ~mpi_transport() override { close(); }

  /// Ends the traffic: waits for sends that are unfinished (there should be none) a little, and takes the receives
  /// back. Nothing else may be called afterwards. Returns how many frames had arrived and were never polled. Local.
  int close() noexcept {
    outbox_.close();
    const int lost = inbox_.close();
    if (barrier_ != MPI_REQUEST_NULL) static_cast<void>(comm_.release());  // a barrier that was given up is still on it
    barrier_ = MPI_REQUEST_NULL;
    return lost;
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  frame new_frame() override { return outbox_.new_frame(); }

  void send(int dest, frame&& bytes) override {
    if (bytes.empty()) throw error("plait: an empty frame cannot be sent");
    if (dest < 0 || dest >= size_) throw error(base::compose({"plait: there is no rank ", dest, " among ", size_}));
    outbox_.send(dest, std::move(bytes));
    note_unfinished();
    note_motion();
    if (const int slot = hosts_.slot_of(dest); slot >= 0) hosts_.segment().announce(slot);
  }

  int poll(frame_handler handler) override {
    const bool sent = outbox_.progress();
    const auto deliver = [&](int source, std::span<const std::byte> bytes) {
      // Relaxed: only the lock holder writes it. Release: pairs with nothing but the sleeper's load, for which an old
      // value only means a sleep that ends at once.
      if (hosts_.slot_of(source) >= 0)
        received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      handler(source, bytes);
    };
    // A sender that sleeps between its looks at a large frame goes on when the receiver wants it.
    const auto pulls = [&](int source) {
      if (const int slot = hosts_.slot_of(source); slot >= 0) hosts_.segment().nudge(slot);
    };
    const int delivered = inbox_.poll(deliver, pulls);
    note_unfinished();
    if (sent || inbox_.moved()) note_motion();
    return delivered;
  }

  bool sends_pending() const noexcept override { return outbox_.pending(); }

  std::uint64_t prepare_sleep() noexcept override { return bell_.prepare(); }

  void sleep(std::uint64_t ticket, std::chrono::nanoseconds at_most) noexcept override {
    // The announced counter is read after prepare(), as ring_if_asleep() demands. It may be ahead of what MPI_Test
    // sees, and briefly behind: each difference means that something is on its way.
    const bool busy = unfinished_.load() || (slot_ >= 0 && hosts_.segment().announced(slot_) != received_.load());
    if (busy || !hosts_.all_share()) {
      const std::uint32_t quiet = quiet_.fetch_add(1, std::memory_order_relaxed);  // a hint, guards nothing
      if (busy && quiet < patience) {
        // To yield where other programs compete for the core costs milliseconds, and a large transfer needs many polls.
        if (hosts_.crowded())
          base::give_way();
        else
          base::pause();
        return;
      }
      const std::uint32_t sleeps = busy ? quiet - patience : quiet;
      const auto step = sleeps < 5 ? shortest_sleep * (1 << sleeps) : longest_sleep;  // 50, 100 ... 800, 1000 us
      if (step < at_most) at_most = step;
    }
    if (bell_.wait(static_cast<std::uint32_t>(ticket), at_most, scope_)) note_motion();
  }

  void wake() noexcept override { bell_.ring(scope_); }

  void broadcast(std::vector<std::byte>& bytes, int root) override {
    std::uint64_t size = bytes.size();
    broadcast_block(&size, sizeof size, root);
    bytes.resize(static_cast<std::size_t>(size));
    constexpr auto chunk = mpi_protocol::chunk_limit;
    for (std::size_t at = 0; at < bytes.size(); at += chunk)
      broadcast_block(bytes.data() + at, bytes.size() - at < chunk ? bytes.size() - at : chunk, root);
  }

  std::vector<std::int64_t> gather_all(std::int64_t value) override {
    return net::gather_all(comm_.get(), size_, value);
  }

  void barrier() override { try_barrier(std::chrono::nanoseconds::max()); }

  bool try_barrier(std::chrono::nanoseconds at_most) override {
    if (barrier_ == MPI_REQUEST_NULL) check(MPI_Ibarrier(comm_.get(), &barrier_), "MPI_Ibarrier");
    return finish(barrier_, "MPI_Ibarrier", at_most);
  }

  int host_of(int rank) const override { return hosts_.host_of(rank); }
  std::string_view host_name() const noexcept override { return host_name_; }
  bool crowded() const noexcept override { return hosts_.crowded(); }

  /// The communicator that it uses; its tags 1 and 2 are taken.
  MPI_Comm comm() const noexcept { return comm_.get(); }
  /// Whether all ranks share memory with this one, so that its sleeps end at once when a frame comes.
  bool wakes_at_once() const noexcept { return hosts_.all_share(); }

 private:
  static constexpr std::uint32_t patience = 8192;  // polls before the first timed sleep when something is on its way
  static constexpr std::chrono::nanoseconds shortest_sleep{50'000};
  static constexpr std::chrono::nanoseconds longest_sleep{1'000'000};

  void broadcast_block(void* data, std::size_t size, int root) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(data, static_cast<int>(size), MPI_BYTE, root, comm_.get(), &request), "MPI_Ibcast");
    finish(request, "MPI_Ibcast");
  }

  /// The next sleeps are short again. Relaxed: a hint, guards nothing.
  void note_motion() noexcept { quiet_.store(0, std::memory_order_relaxed); }

  /// For the sleeper, who may not look into outbox and inbox.
  void note_unfinished() noexcept {
    const bool unfinished = outbox_.pending() || inbox_.receiving();
    if (unfinished != unfinished_.load(std::memory_order_relaxed)) unfinished_.store(unfinished);  // relaxed: own write
  }

  communicator comm_;
  const int rank_;
  const int size_;
  const std::string host_name_;
  mpi_hosts hosts_;
  doorbell own_bell_;
  const int slot_;  // of this rank in the segment, or -1
  doorbell& bell_;
  const base::futex_scope scope_;
  mpi_outbox outbox_;
  mpi_inbox inbox_;
  MPI_Request barrier_ = MPI_REQUEST_NULL;   // one that reached its time limit
  base::atomic<std::uint32_t> received_{0};  // frames delivered of those that are announced
  base::atomic<bool> unfinished_{false};
  base::atomic<std::uint32_t> quiet_{0};  // sleeps since something moved
};
static_assert(std::is_trivially_destructible_v<mpi_transport_options>);

}  // namespace plait::net

#endif  // PLAIT_WITH_MPI
