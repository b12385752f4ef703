// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/net/mpi.hpp>

#if PLAIT_WITH_MPI

#include <plait/base/growing_array.hpp>
#include <plait/base/topology.hpp>
#include <plait/net/host.hpp>
#include <plait/net/host_segment.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

PLAIT_INTERFACE

namespace plait::net {

/// Every rank's value, by rank. Collective.
inline std::vector<std::int64_t> gather_all(MPI_Comm comm, int size, std::int64_t value) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&value, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, comm, &request), "MPI_Iallgather");
  finish(request, "MPI_Iallgather");
  return all;
}

/// Which ranks are on which host, and the memory that those of this host share.
class mpi_hosts {
 public:
  /// Collective. use_segment: whether this rank wants to share memory; one that does not is alone on its host in this
  /// respect. Three rounds of small messages: who is where; the leaders have created the segments; who sees them.
  mpi_hosts(MPI_Comm comm, int rank, int size, bool use_segment) : rank_(rank) {
    const auto cards = exchange_cards(comm, size, use_segment);
    const auto group = peers(cards);
    const bool leads = group.size() > 1 && group[0] == rank;
    const int slots = static_cast<int>(group.size());
    const segment_name name = group.empty() ? segment_name{} : cards[static_cast<std::size_t>(group[0])].name;

    if (leads) segment_ = host_segment::create(name, slots);
    gather_all(comm, size, segment_ ? 1 : 0);
    if (group.size() > 1 && !leads) segment_ = host_segment::open(name, slots);
    if (segment_) segment_.add_cores(allowed_cores());
    const std::vector<std::int64_t> secrets = gather_all(comm, size, segment_ ? segment_.secret() : 0);
    segment_.remove_name();

    agree(group, secrets);
    number_hosts(cards);
  }

  /// The memory that this rank shares with others; may be empty.
  host_segment& segment() noexcept { return segment_; }
  const host_segment& segment() const noexcept { return segment_; }
  /// The slot of a rank in it; -1 for ranks that do not share it, and for all if it is empty.
  int slot_of(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].slot; }
  /// Whether every other rank shares it.
  bool all_share() const noexcept { return all_share_; }
  /// The host of a rank: small, dense.
  int host_of(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].host; }
  /// Whether this host has more ranks than cores for them.
  bool crowded() const noexcept { return crowded_; }

 private:
  struct card {
    std::uint64_t host = 0;
    std::uint64_t shared_memory = 0;  // 0: not wanted
    segment_name name;                // of the segment, if this rank is to lead
  };

  using card_list = base::growing_array<card>;
  using rank_list = base::growing_array<int>;
  struct place {
    int slot = -1;
    int host = -1;
  };

  static card_list exchange_cards(MPI_Comm comm, int size, bool use_segment) {
    const host_identity here = host_identity::current();
    const auto name = segment_name::random();
    const card mine{here.host, use_segment && name ? here.shared_memory : 0, name};
    card_list cards;
    cards.resize(static_cast<std::size_t>(size));
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(&mine, static_cast<int>(sizeof mine), MPI_BYTE, cards.begin(), static_cast<int>(sizeof mine),
                         MPI_BYTE, comm, &request),
          "MPI_Iallgather");
    finish(request, "MPI_Iallgather");
    return cards;
  }

  /// The ranks that may share memory with this one, itself among them, ascending.
  rank_list peers(const card_list& cards) const {
    rank_list result;
    const std::uint64_t mine = cards[static_cast<std::size_t>(rank_)].shared_memory;
    for (std::size_t rank = 0; rank < cards.size(); ++rank)
      if (mine != 0 && cards[rank].shared_memory == mine) result.push_back(static_cast<int>(rank));
    return result;
  }

  /// Those share it who know its secret.
  void agree(const rank_list& group, const std::vector<std::int64_t>& secrets) {
    places_.resize(secrets.size());
    const std::int64_t mine = secrets[static_cast<std::size_t>(rank_)];
    std::size_t sharing = 0;
    for (std::size_t slot = 0; mine != 0 && slot < group.size(); ++slot) {
      const auto rank = static_cast<std::size_t>(group[slot]);
      if (secrets[rank] != mine) continue;
      places_[rank].slot = static_cast<int>(slot);
      ++sharing;
    }
    if (sharing < 2) {
      segment_ = host_segment();
      for (auto& p : places_) p.slot = -1;
    }
    all_share_ = secrets.size() == 1 || sharing == secrets.size();
  }

  struct on_host {
    std::uint64_t host;
    std::size_t rank;
    /// For qsort: by host, then by rank.
    static int compare(const void* a, const void* b) noexcept {
      const auto& x = *static_cast<const on_host*>(a);
      const auto& y = *static_cast<const on_host*>(b);
      if (x.host != y.host) return x.host < y.host ? -1 : 1;
      return x.rank < y.rank ? -1 : 1;
    }
  };

  void number_hosts(const card_list& cards) {
    base::growing_array<on_host> by_host;
    for (std::size_t rank = 0; rank < cards.size(); ++rank) by_host.push_back({cards[rank].host, rank});
    std::qsort(by_host.begin(), by_host.size(), sizeof(on_host), &on_host::compare);
    base::growing_array<std::size_t> first_there;  // of each rank's host, the lowest rank
    first_there.resize(cards.size());
    for (std::size_t i = 0, first = 0; i < by_host.size(); ++i) {
      if (by_host[i].host != by_host[first].host) first = i;
      first_there[by_host[i].rank] = by_host[first].rank;
    }
    int hosts = 0;
    int here = 0;
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
      const auto first = first_there[rank];
      places_[rank].host = first == rank ? hosts++ : places_[first].host;
      if (first == first_there[static_cast<std::size_t>(rank_)]) ++here;
    }
    const int mine_alone = count_cores(allowed_cores());
    const int usable = static_cast<int>(base::usable_processors());
    int cores = segment_ ? count_cores(segment_.cores()) : mine_alone;
    if (usable < mine_alone) cores = cores < usable ? cores : usable;  // a quota that the ranks of this host share
    crowded_ = here > cores;
  }

  int rank_;
  host_segment segment_;
  base::growing_array<place> places_;  // of each rank
  bool all_share_ = false;
  bool crowded_ = false;
};

}  // namespace plait::net

#endif  // PLAIT_WITH_MPI
