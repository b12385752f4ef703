// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/growing_array.hpp>
#include <plait/base/splitmix64.hpp>
#include <plait/net/transport.hpp>

#include <cstdint>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Whom an idle rank asks for tasks, and who has asked this one. First the ranks of its host, then random others, one
/// request at a time; after a few that brought nothing it registers with its lifelines, the neighbours in a hypercube,
/// and is quiet until work comes (Saraswat et al., "Lifeline-based global load balancing", PPoPP 2011). Ranks r and r ^
/// 2^k < size are neighbours; each rank has a path to rank 0, so work spreads to all. Whoever holds it provides the
/// lock.
class thief {
 public:
  explicit thief(const net::transport& transport) : rank_(transport.rank()), size_(transport.size()) {
    for (int r = 0; r < size_; ++r) {
      if (r != rank_ && transport.host_of(r) == transport.host_of(rank_)) same_host_.push_back(r);
    }
    for (int bit = 1; bit < size_; bit <<= 1) {
      if ((rank_ ^ bit) < size_) neighbours_.push_back({rank_ ^ bit, false});
    }
    patience_ = neighbours_.size() < 5 ? static_cast<int>(neighbours_.size()) + 1 : 6;
  }

  /// Begins a run.
  void reset() {
    outstanding_ = false;
    quiet_ = false;
    early_ = asked_early_ = false;
    misses_ = 0;
    for (auto& n : neighbours_) n.registered = false;
    waiting_.clear();
  }

  /// Whether the rank should ask now.
  bool wants_to_ask() const noexcept { return size_ > 1 && !outstanding_ && !quiet_; }

  /// Whether a rank that is about to run out of work should ask, so that the answer comes when it has: once, until
  /// tasks have come.
  bool wants_to_ask_early() const noexcept { return wants_to_ask() && !asked_early_; }
  /// The rank to ask then.
  int early_victim() noexcept {
    outstanding_ = early_ = asked_early_ = true;
    return same_host_.empty() ? any_other(random_()) : near_one(random_());
  }

  /// The rank to ask next, or -1 after too many misses: then `register_with(rank)` was called for the lifelines.
  template <class Random, class Register>
  int next_victim(Random&& random, Register&& register_with) {
    if (misses_ < patience_) {
      outstanding_ = true;
      if (!same_host_.empty() && misses_ < (patience_ + 1) / 2) return near_one(random());
      return any_other(random());
    }
    quiet_ = true;
    for (auto& n : neighbours_) {
      if (!std::exchange(n.registered, true)) register_with(n.rank);
    }
    return -1;
  }

  /// A request was answered with so many tasks.
  void answered(unsigned tasks) noexcept {
    outstanding_ = false;
    const bool early = std::exchange(early_, false);
    if (tasks != 0) {
      misses_ = 0;
      asked_early_ = false;
    } else if (!early) {
      ++misses_;
    }
  }

  /// A task came from a rank: it is no lifeline any more, and asking makes sense again.
  void task_came(int from) noexcept {
    quiet_ = false;
    asked_early_ = false;
    misses_ = 0;
    for (auto& n : neighbours_) {
      if (n.rank == from) n.registered = false;
    }
  }

  /// A rank has registered here.
  void add_waiting(int rank) {
    for (const int other : waiting_) {
      if (other == rank) return;
    }
    waiting_.push_back(rank);
  }
  bool anyone_waiting() const noexcept { return !waiting_.empty(); }
  /// The rank that has waited longest; it must be fed.
  int take_waiting() {
    const int rank = waiting_[0];
    waiting_.erase(0);
    return rank;
  }

 private:
  int near_one(std::uint64_t random) const noexcept { return same_host_[random % same_host_.size()]; }
  int any_other(std::uint64_t random) const noexcept {
    const auto r = static_cast<int>(random % static_cast<std::uint64_t>(size_ - 1));
    return r < rank_ ? r : r + 1;
  }

  struct neighbour {
    int rank;
    bool registered;
  };
  int rank_;
  int size_;
  int patience_ = 0;
  base::growing_array<int> same_host_;
  base::growing_array<neighbour> neighbours_;
  base::splitmix64 random_{static_cast<std::uint64_t>(rank_)};
  bool outstanding_ = false;
  bool early_ = false;        ///< the outstanding request was made early
  bool asked_early_ = false;  ///< since tasks came last
  bool quiet_ = false;
  int misses_ = 0;
  base::growing_array<int> waiting_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
