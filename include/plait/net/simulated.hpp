// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/charge.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/event_loop.hpp>
#include <plait/base/futex.hpp>
#include <plait/net/doorbell.hpp>
#include <plait/net/transport.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait::net {

/// What joins simulated ranks, and what the simulation leaves to chance. All of it follows from the seed.
struct simulated_network {
  std::chrono::nanoseconds latency{2000};  ///< of each frame
  double bytes_per_second = 10e9;
  std::chrono::nanoseconds jitter{0};  ///< each frame takes up to so much longer, and so does giving way
  std::chrono::nanoseconds wake{0};    ///< until a sleeping thread that was woken goes on
  int ranks_per_host = 1;
  std::chrono::nanoseconds limit = std::chrono::hours(24 * 365);  ///< an error of run when so much time has passed
  std::size_t stack_bytes = 256 * 1024;  ///< of each thread; pages that are not used take no memory
};

/// Several ranks in one thread and in virtual time: run calls a function for each as if in a process of its own, with
/// all that the ranks start: workers, progress threads. Each simulated thread has a core of its own, on which what
/// plait itself does takes no time; tasks say with plait::charge how long they take. Frames take latency plus size over
/// bandwidth, and keep the order between a pair up to eager_limit. The same seed gives the same run, whatever the
/// machine. Runtimes need options with .workers, which would depend on the machine otherwise.
///
/// In a simulation plait::blocking throws, and waits for what real threads do never end. What asks the system for
/// the time gets the real one.
class simulated_world {
 public:
  /// What has crossed between ranks.
  struct traffic {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };

  explicit simulated_world(int ranks, std::uint64_t seed = 1, const simulated_network& network = {})
      : network_(network),
        loop_({seed, network.stack_bytes, network.wake.count(), 50, network.jitter.count(),
               base::event_loop::start_time + network.limit.count()}) {
    if (ranks < 1) throw error("plait: simulated_world needs at least one rank, not " + std::to_string(ranks));
    for (int r = 0; r < ranks; ++r) ends_.push_back(std::make_unique<simulated_end>(*this, r));
    board_values_.resize(ends_.size());
  }

  /// The number of ranks.
  int size() const noexcept { return static_cast<int>(ends_.size()); }

  /// Calls body(rank's transport) for each rank and returns when all have returned; time goes on where the last run
  /// has ended. Throws what the lowest rank threw. Throws plait::error if nothing happens any more although threads
  /// wait; then the world can't run again, and what those threads own is lost.
  void run(const std::function<void(transport&)>& body) {
    std::vector<std::exception_ptr> thrown(ends_.size());
    std::vector<start_record> records;
    for (std::size_t r = 0; r < ends_.size(); ++r) records.push_back({*this, static_cast<int>(r), body, thrown[r]});
    std::vector<void*> threads;
    for (auto& r : records) threads.push_back(loop_.start(&start_record::call, &r));
    std::exception_ptr stuck;
    try {
      loop_.run();
    } catch (const error&) {
      stuck = std::current_exception();
    }
    for (const auto& e : thrown) {
      if (e) std::rethrow_exception(e);
    }
    if (stuck) std::rethrow_exception(stuck);
    for (auto* t : threads) loop_.join(t);
  }

  /// The virtual time since the world began.
  std::chrono::nanoseconds time() const noexcept { return std::chrono::nanoseconds(loop_.now() - began_); }
  /// What all ranks have sent, each to others and to itself.
  const traffic& sent() const noexcept { return sent_; }
  /// How many frames no rank has received: 0 after a run, unless the ranks end while some are under way.
  std::uint64_t undelivered() const noexcept { return undelivered_; }
  /// How many events there were, and a digest of which and when.
  std::uint64_t events() const noexcept { return loop_.steps(); }
  std::uint64_t digest() const noexcept { return loop_.digest(); }

  /// For tests of tests: is asked for each frame how often it arrives; 1 is what a network does.
  void set_copies(std::function<int(int source, int dest, const frame&)> copies) { copies_ = std::move(copies); }

 private:
  struct start_record {
    simulated_world& world;
    int rank;
    const std::function<void(transport&)>& body;
    std::exception_ptr& thrown;

    static void call(void* self) {
      auto& r = *static_cast<start_record*>(self);
      r.world.loop_.name_this_thread("rank " + std::to_string(r.rank));
      try {
        r.body(*r.world.ends_[static_cast<std::size_t>(r.rank)]);
      } catch (...) {
        r.thrown = std::current_exception();
      }
    }
  };

  class simulated_end final : public transport {
   public:
    simulated_end(simulated_world& world, int rank)
        : world_(world), rank_(rank), host_name_("host" + std::to_string(host_of(rank))) {}

    int rank() const noexcept override { return rank_; }
    int size() const noexcept override { return world_.size(); }

    frame new_frame() override { return world_.take_frame(); }
    void send(int dest, frame&& bytes) override {
      if (bytes.empty()) throw error("plait: an empty frame cannot be sent");
      world_.ship(rank_, dest, std::move(bytes));
    }

    int poll(frame_handler handler) override {
      int delivered = 0;
      while (!inbox_.empty()) {
        parcel current = std::move(inbox_.front());
        inbox_.pop_front();
        ++delivered;
        --world_.undelivered_;
        handler(current.source, current.bytes);
        world_.keep_frame(std::move(current.bytes));
      }
      return delivered;
    }

    bool sends_pending() const noexcept override { return false; }

    std::uint64_t prepare_sleep() noexcept override { return bell_.prepare(); }
    void sleep(std::uint64_t ticket, std::chrono::nanoseconds at_most) noexcept override {
      if (inbox_.empty()) bell_.wait(static_cast<std::uint32_t>(ticket), at_most, base::futex_scope::process);
    }
    void wake() noexcept override { bell_.ring(base::futex_scope::process); }

    void broadcast(std::vector<std::byte>& bytes, int root) override {
      if (rank_ == root) world_.board_ = bytes;
      barrier();
      if (rank_ != root) bytes = world_.board_;
      barrier();
    }
    std::vector<std::int64_t> gather_all(std::int64_t value) override {
      world_.board_values_[static_cast<std::size_t>(rank_)] = value;
      barrier();
      auto all = world_.board_values_;
      barrier();
      return all;
    }
    void barrier() override { try_barrier(std::chrono::nanoseconds::max()); }
    bool try_barrier(std::chrono::nanoseconds at_most) override {
      if (!arrived_) meeting_ = world_.arrive();
      arrived_ = true;
      const bool endless = at_most == std::chrono::nanoseconds::max();
      const auto start = world_.time();
      while (world_.meetings_.load() < meeting_) {
        const auto spent = world_.time() - start;
        if (!endless && spent >= at_most) return false;
        base::futex_wait(world_.meetings_, meeting_ - 1, endless ? at_most : at_most - spent,
                         base::futex_scope::process);
      }
      arrived_ = false;
      return true;
    }

    int host_of(int rank) const override { return rank / world_.network_.ranks_per_host; }
    std::string_view host_name() const noexcept override { return host_name_; }
    /// Looking around takes no time, so there is no use in doing it for long.
    bool crowded() const noexcept override { return true; }

    /// A frame is there.
    void accept(int source, frame&& bytes) {
      inbox_.push_back({source, std::move(bytes)});
      bell_.ring_if_asleep(base::futex_scope::process);
    }

    std::unordered_map<int, std::int64_t> last_arrival;  ///< of what it has sent, by destination

   private:
    struct parcel {
      int source;
      frame bytes;
    };

    simulated_world& world_;
    const int rank_;
    const std::string host_name_;
    std::deque<parcel> inbox_;
    doorbell bell_;
    std::uint32_t meeting_ = 0;
    bool arrived_ = false;  // at meeting_
  };

  struct shipment {
    int source;
    int dest;
    frame bytes;
  };

  void ship(int source, int dest, frame&& bytes) {
    if (dest < 0 || dest >= size())
      throw error("plait: there is no rank " + std::to_string(dest) + " among " + std::to_string(size()));
    ++sent_.frames;
    sent_.bytes += bytes.size();
    int copies = copies_ ? copies_(source, dest, bytes) : 1;
    const auto jitter = network_.jitter.count();
    const auto extra =
        jitter <= 0 ? 0 : static_cast<std::int64_t>(loop_.random() % static_cast<std::uint64_t>(jitter + 1));
    auto when = loop_.now() + network_.latency.count() + extra +
                static_cast<std::int64_t>(static_cast<double>(bytes.size()) / network_.bytes_per_second * 1e9);
    for (; copies > 0; --copies) {
      if (bytes.size() <= eager_limit) {  // events of one time have no order
        auto& last = ends_[static_cast<std::size_t>(source)]->last_arrival[dest];
        when = last = std::max(when, last + 1);
      }
      ++undelivered_;
      const auto place = take_shipment();
      auto& s = shipments_[place];
      s.source = source;
      s.dest = dest;
      s.bytes = copies > 1 ? bytes : std::move(bytes);
      loop_.at(when, &deliver, this, place);
    }
  }
  static void deliver(void* self, std::uint64_t place) {
    auto& w = *static_cast<simulated_world*>(self);
    auto& s = w.shipments_[place];
    w.loop_.note(static_cast<std::uint64_t>(s.source) << 40 ^ static_cast<std::uint64_t>(s.dest) << 20 ^
                 s.bytes.size());
    auto bytes = std::exchange(s.bytes, {});
    w.free_shipments_.push_back(place);
    w.ends_[static_cast<std::size_t>(s.dest)]->accept(s.source, std::move(bytes));
  }
  std::uint64_t take_shipment() {
    if (free_shipments_.empty()) {
      shipments_.emplace_back();
      return shipments_.size() - 1;
    }
    const auto place = free_shipments_.back();
    free_shipments_.pop_back();
    return place;
  }

  frame take_frame() {
    if (frames_.empty()) return {};
    auto f = std::move(frames_.back());
    frames_.pop_back();
    return f;
  }
  void keep_frame(frame&& f) {
    f.clear();
    if (f.capacity() <= eager_limit && frames_.size() < 1024) frames_.push_back(std::move(f));
  }

  /// One more rank has come to the meeting, whose number it gets. A meeting takes as long as messages up and down a
  /// tree.
  std::uint32_t arrive() {
    const auto meeting = static_cast<std::uint32_t>(arrivals_++ / ends_.size()) + 1;
    if (arrivals_ % ends_.size() == 0) {
      const auto depth = std::bit_width(ends_.size() - 1);
      loop_.at(loop_.now() + 2 * static_cast<std::int64_t>(depth) * network_.latency.count(), &meet, this, 0);
    }
    return meeting;
  }
  static void meet(void* self, std::uint64_t) {
    auto& w = *static_cast<simulated_world*>(self);
    w.meetings_.fetch_add(1);
    base::futex_wake(w.meetings_, base::futex_scope::process);
  }

  const simulated_network network_;
  base::event_loop loop_;
  const std::int64_t began_ = loop_.now();
  std::vector<std::unique_ptr<simulated_end>> ends_;
  traffic sent_;
  std::uint64_t undelivered_ = 0;
  std::function<int(int, int, const frame&)> copies_;
  std::deque<shipment> shipments_;
  std::vector<std::uint64_t> free_shipments_;
  std::vector<frame> frames_;
  std::uint64_t arrivals_ = 0;
  base::atomic<std::uint32_t> meetings_{0};
  std::vector<std::byte> board_;
  std::vector<std::int64_t> board_values_;
};

}  // namespace plait::net
