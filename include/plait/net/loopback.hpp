// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/atomic.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/topology.hpp>
#include <plait/net/doorbell.hpp>
#include <plait/net/host.hpp>
#include <plait/net/transport.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace plait::net {

/// Several ranks inside one process, for programs without MPI (one rank) and for tests. Each rank may be driven by
/// threads of its own; nothing but memory joins them. The ends live as long as the world does.
class loopback_world {
 public:
  /// ranks: at least 1.
  explicit loopback_world(int ranks) : meeting_(ranks), host_name_(this_host_name()) {
    if (ranks < 1) throw error("plait: loopback_world needs at least one rank, not " + std::to_string(ranks));
    crowded_ = ranks > static_cast<int>(base::usable_processors());
    for (int rank = 0; rank < ranks; ++rank) ends_.push_back(std::make_unique<loopback_end>(*this, rank));
  }

  /// The number of ranks.
  int size() const noexcept { return static_cast<int>(ends_.size()); }

  /// The transport of one rank.
  transport& end(int rank) { return at(rank); }

 private:
  /// Where the ranks meet for collectives. The k-th arrival of a rank belongs to the k-th meeting.
  class meeting_place {
   public:
    explicit meeting_place(int ranks)
        : arrivals_(static_cast<std::size_t>(std::max(ranks, 1))), values_(arrivals_.size()) {}

    std::uint64_t arrive(int rank) {
      const std::scoped_lock lock(mutex_);
      const std::uint64_t meeting = ++arrivals_[static_cast<std::size_t>(rank)];
      all_came_.notify_all();
      return meeting;
    }
    bool complete(std::uint64_t meeting) {
      const std::scoped_lock lock(mutex_);
      return *std::ranges::min_element(arrivals_) >= meeting;
    }
    void wait(std::uint64_t meeting) {
      std::unique_lock lock(mutex_);
      all_came_.wait(lock, [&] { return *std::ranges::min_element(arrivals_) >= meeting; });
    }

    // Written before a meeting and read between it and the next one, hence without the lock.
    std::vector<std::byte> board_;
    std::vector<std::int64_t>& values() noexcept { return values_; }

   private:
    std::mutex mutex_;
    std::condition_variable all_came_;
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::int64_t> values_;
  };

  class loopback_end final : public transport {
   public:
    loopback_end(loopback_world& world, int rank) : world_(world), rank_(rank) {}

    int rank() const noexcept override { return rank_; }
    int size() const noexcept override { return world_.size(); }

    void send(int dest, frame&& bytes) override {
      if (bytes.empty()) throw error("plait: an empty frame cannot be sent");
      world_.at(dest).accept(rank_, std::move(bytes));
    }

    int poll(frame_handler handler) override {
      if (next_ == batch_.size()) refill();
      int delivered = 0;
      while (next_ != batch_.size()) {
        const parcel current = std::move(batch_[next_++]);
        ++delivered;
        received_.fetch_add(1);
        handler(current.source, current.bytes);
      }
      return delivered;
    }

    bool sends_pending() const noexcept override { return false; }

    std::uint64_t prepare_sleep() noexcept override { return bell_.prepare(); }
    void sleep(std::uint64_t ticket, std::chrono::nanoseconds at_most) noexcept override {
      if (announced_.load() != received_.load()) return;
      bell_.wait(static_cast<std::uint32_t>(ticket), at_most, base::futex_scope::process);
    }
    void wake() noexcept override { bell_.ring(base::futex_scope::process); }

    void broadcast(std::vector<std::byte>& bytes, int root) override {
      if (rank_ == root) world_.meeting_.board_ = bytes;
      barrier();
      if (rank_ != root) bytes = world_.meeting_.board_;
      barrier();
    }

    std::vector<std::int64_t> gather_all(std::int64_t value) override {
      world_.meeting_.values()[static_cast<std::size_t>(rank_)] = value;
      barrier();
      std::vector<std::int64_t> all = world_.meeting_.values();
      barrier();
      return all;
    }

    void barrier() override {
      arrive();
      world_.meeting_.wait(meeting_);
      arrived_ = false;
    }

    bool try_barrier(std::chrono::nanoseconds at_most) override {
      arrive();
      const auto start = std::chrono::steady_clock::now();
      while (!world_.meeting_.complete(meeting_)) {
        if (std::chrono::steady_clock::now() - start >= at_most) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      arrived_ = false;
      return true;
    }

    int host_of(int) const override { return 0; }
    std::string_view host_name() const noexcept override { return world_.host_name_; }
    bool crowded() const noexcept override { return world_.crowded_; }

   private:
    struct parcel {
      int source;
      frame bytes;
    };

    void accept(int source, frame&& bytes) {
      {
        const std::scoped_lock lock(mutex_);
        inbox_.push_back({source, std::move(bytes)});
        announced_.fetch_add(1);  // seq_cst, as ring_if_asleep demands; under the lock, so that it never lags
      }
      bell_.ring_if_asleep(base::futex_scope::process);
    }

    void refill() {
      batch_.clear();
      next_ = 0;
      if (announced_.load() == received_.load()) return;
      const std::scoped_lock lock(mutex_);
      batch_.swap(inbox_);
    }

    void arrive() {
      if (!arrived_) meeting_ = world_.meeting_.arrive(rank_);
      arrived_ = true;
    }

    loopback_world& world_;
    const int rank_;

    std::vector<parcel> batch_;  // taken from the inbox; those before next_ are delivered
    std::size_t next_ = 0;
    std::uint64_t meeting_ = 0;
    bool arrived_ = false;                     // at meeting_, which was not complete when a time limit ended the wait
    base::atomic<std::uint32_t> received_{0};  // written by the lock holder, read by the sleeper

    alignas(64) std::mutex mutex_;
    std::vector<parcel> inbox_;
    base::atomic<std::uint32_t> announced_{0};
    doorbell bell_;
  };

  loopback_end& at(int rank) {
    if (rank < 0 || rank >= size())
      throw error("plait: there is no rank " + std::to_string(rank) + " among " + std::to_string(size()));
    return *ends_[static_cast<std::size_t>(rank)];
  }

  meeting_place meeting_;
  std::string host_name_;
  bool crowded_ = false;
  std::vector<std::unique_ptr<loopback_end>> ends_;
};

}  // namespace plait::net
