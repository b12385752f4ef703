// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#if PLAIT_WITH_MPI
#include <mpi.h>
#endif

namespace pipeline {

/// All ranks of the job, for the parts of the program where each of them does the same: native MPI, next to plait.
/// One rank if the program was built without MPI or runs without it (PLAIT_MPI=0). Member functions are collective if
/// they do not say otherwise.
class spmd_group {
 public:
  spmd_group() {
#if PLAIT_WITH_MPI
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised == 0) return;
    parallel_ = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
#endif
  }

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  /// Whether MPI is in use; with one rank, too.
  bool parallel() const noexcept { return parallel_; }

  /// Gives every rank the values of rank 0.
  template <class T>
  void broadcast(std::span<T> values) const {
    static_assert(std::is_trivially_copyable_v<T>);
#if PLAIT_WITH_MPI
    const std::size_t bytes = values.size_bytes();
    static constexpr std::size_t piece = std::size_t{1} << 30;  // MPI counts with an int
    for (std::size_t at = 0; parallel_ && at < bytes; at += piece) {
      const int length = static_cast<int>(bytes - at < piece ? bytes - at : piece);
      MPI_Bcast(reinterpret_cast<std::byte*>(values.data()) + at, length, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
#else
    static_cast<void>(values);
#endif
  }

  /// The same for a single value, which is returned.
  template <class T>
  T broadcast(T value) const {
    broadcast(std::span<T>(&value, 1));
    return value;
  }

  /// The same for a vector, also of another length on other ranks.
  template <class T>
  void broadcast(std::vector<T>& values) const {
    values.resize(broadcast(values.size()));
    broadcast(std::span<T>(values));
  }

  /// The text of the lowest rank that has one; empty if none has. So all ranks take the same way after an error.
  std::string first_text(const std::string& text) const {
    std::string result = text;
#if PLAIT_WITH_MPI
    if (!parallel_) return result;
    int source = text.empty() ? size_ : rank_;
    MPI_Allreduce(MPI_IN_PLACE, &source, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (source == size_) return {};
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, source, MPI_COMM_WORLD);
    result.resize(static_cast<std::size_t>(length));
    MPI_Bcast(result.data(), length, MPI_CHAR, source, MPI_COMM_WORLD);
#endif
    return result;
  }

  /// The values of all ranks, in the order of ranks, on rank 0; empty on the others.
  template <class T>
  std::vector<T> gather(const std::vector<T>& values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> result = values;
#if PLAIT_WITH_MPI
    if (!parallel_) return result;
    const int bytes = static_cast<int>(values.size() * sizeof(T));
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    MPI_Gather(&bytes, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    std::vector<int> starts(lengths.size());
    int total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      starts[i] = total;
      total += lengths[i];
    }
    result.resize(rank_ == 0 ? static_cast<std::size_t>(total) / sizeof(T) : 0);
    MPI_Gatherv(values.data(), bytes, MPI_BYTE, result.data(), lengths.data(), starts.data(), MPI_BYTE, 0,
                MPI_COMM_WORLD);
#endif
    return result;
  }

  /// Ends the job at once, with this exit status. Not collective.
  [[noreturn]] void abort(int status) const {
    std::fflush(nullptr);
#if PLAIT_WITH_MPI
    if (parallel_) MPI_Abort(MPI_COMM_WORLD, status);
#endif
    std::_Exit(status);
  }

 private:
  int rank_ = 0;
  int size_ = 1;
  bool parallel_ = false;
};

}  // namespace pipeline
