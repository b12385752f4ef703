// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/native.hpp>

#if PLAIT_WITH_MPI

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace mpi {

namespace start {
/// Starts a collective that makes one request.
template <class Call>
auto one(const char* name, Call call) {
  auto start = [call](auto& own, auto&) {
    own.resize(1);
    return call(&own[0]);
  };
  return collective_awaiter<decltype(start)>(name, start);
}
}  // namespace start

// The collectives of MPI under their names, awaitable. Buffers, and lists of counts and places, must live until they
// end. On mpi::comm() they are legal in spmd bodies, one after another; on another communicator the same order on all
// its ranks is the caller's duty. They throw mpi_error, if the communicator returns errors (mpi::comm() does).

/// MPI_Ibarrier.
template <class = void>
auto barrier(MPI_Comm comm) {
  return start::one("MPI_Ibarrier", [=](MPI_Request* r) { return MPI_Ibarrier(comm, r); });
}
/// MPI_Ibcast.
template <class = void>
auto bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return start::one("MPI_Ibcast", [=](MPI_Request* r) { return MPI_Ibcast(buffer, count, type, root, comm, r); });
}
/// MPI_Ireduce.
template <class = void>
auto reduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return start::one("MPI_Ireduce",
                    [=](MPI_Request* r) { return MPI_Ireduce(from, to, count, type, op, root, comm, r); });
}
/// MPI_Iallreduce.
template <class = void>
auto allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return start::one("MPI_Iallreduce",
                    [=](MPI_Request* r) { return MPI_Iallreduce(from, to, count, type, op, comm, r); });
}
/// MPI_Ireduce_scatter_block.
template <class = void>
auto reduce_scatter_block(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return start::one("MPI_Ireduce_scatter_block",
                    [=](MPI_Request* r) { return MPI_Ireduce_scatter_block(from, to, count, type, op, comm, r); });
}
/// MPI_Iscan.
template <class = void>
auto scan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return start::one("MPI_Iscan", [=](MPI_Request* r) { return MPI_Iscan(from, to, count, type, op, comm, r); });
}
/// MPI_Iexscan.
template <class = void>
auto exscan(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return start::one("MPI_Iexscan", [=](MPI_Request* r) { return MPI_Iexscan(from, to, count, type, op, comm, r); });
}
/// MPI_Igather.
template <class = void>
auto gather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
            int root, MPI_Comm comm) {
  return start::one("MPI_Igather", [=](MPI_Request* r) {
    return MPI_Igather(from, from_count, from_type, to, to_count, to_type, root, comm, r);
  });
}
/// MPI_Igatherv.
template <class = void>
auto gatherv(const void* from, int from_count, MPI_Datatype from_type, void* to, const int* to_counts,
             const int* to_places, MPI_Datatype to_type, int root, MPI_Comm comm) {
  return start::one("MPI_Igatherv", [=](MPI_Request* r) {
    return MPI_Igatherv(from, from_count, from_type, to, to_counts, to_places, to_type, root, comm, r);
  });
}
/// MPI_Iscatter.
template <class = void>
auto scatter(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
             int root, MPI_Comm comm) {
  return start::one("MPI_Iscatter", [=](MPI_Request* r) {
    return MPI_Iscatter(from, from_count, from_type, to, to_count, to_type, root, comm, r);
  });
}
/// MPI_Iscatterv.
template <class = void>
auto scatterv(const void* from, const int* from_counts, const int* from_places, MPI_Datatype from_type, void* to,
              int to_count, MPI_Datatype to_type, int root, MPI_Comm comm) {
  return start::one("MPI_Iscatterv", [=](MPI_Request* r) {
    return MPI_Iscatterv(from, from_counts, from_places, from_type, to, to_count, to_type, root, comm, r);
  });
}
/// MPI_Iallgather.
template <class = void>
auto allgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
               MPI_Comm comm) {
  return start::one("MPI_Iallgather", [=](MPI_Request* r) {
    return MPI_Iallgather(from, from_count, from_type, to, to_count, to_type, comm, r);
  });
}
/// MPI_Iallgatherv.
template <class = void>
auto allgatherv(const void* from, int from_count, MPI_Datatype from_type, void* to, const int* to_counts,
                const int* to_places, MPI_Datatype to_type, MPI_Comm comm) {
  return start::one("MPI_Iallgatherv", [=](MPI_Request* r) {
    return MPI_Iallgatherv(from, from_count, from_type, to, to_counts, to_places, to_type, comm, r);
  });
}
/// MPI_Ialltoall.
template <class = void>
auto alltoall(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count, MPI_Datatype to_type,
              MPI_Comm comm) {
  return start::one("MPI_Ialltoall", [=](MPI_Request* r) {
    return MPI_Ialltoall(from, from_count, from_type, to, to_count, to_type, comm, r);
  });
}
/// MPI_Ialltoallv.
template <class = void>
auto alltoallv(const void* from, const int* from_counts, const int* from_places, MPI_Datatype from_type, void* to,
               const int* to_counts, const int* to_places, MPI_Datatype to_type, MPI_Comm comm) {
  return start::one("MPI_Ialltoallv", [=](MPI_Request* r) {
    return MPI_Ialltoallv(from, from_counts, from_places, from_type, to, to_counts, to_places, to_type, comm, r);
  });
}

}  // namespace mpi
}  // namespace PLAIT_DIST
}  // namespace plait

#endif  // PLAIT_WITH_MPI
