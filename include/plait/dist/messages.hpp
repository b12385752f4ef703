// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// What ranks say to each other. Payloads begin with one of the structs below; all ranks of a job have one architecture.

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

enum class message : std::uint16_t {
  // Work: counted for the end of the run.
  task = 1,      ///< task_head, arguments
  result,        ///< result_head, then as its `what` says
  spmd_request,  ///< spmd_head, arguments; to rank 0, which gives the order
  spmd_start,    ///< spmd_head, arguments; down the tree
  // Control: counted for the closing.
  steal,       ///< steal_head: an idle rank, or one that soon will be, asks for tasks
  steal_done,  ///< reply_head: how many tasks came before it
  lifeline,    ///< nothing: an idle rank asks once and will be fed when there is something
  moved,       ///< moved_head: a task of the receiver has come to the sender from a third rank
  credit,      ///< credit_head: tasks of the receiver have started
  calm_ask,    ///< nothing; down the tree: how long has nothing run?
  calm_said,   ///< calm_head; up the tree: nothing has run there for so long
  stalled,     ///< calm_head; down the tree: nothing has run anywhere for so long, say what you wait for
  stop,        ///< return_address: the receiver has got a task of the sender that is to stop
  // The end of the run: each is answered or leads to one.
  wave_down,  ///< wave_head
  wave_up,    ///< wave_head, then an encoded failure if it has one
  leave,      ///< failure_head, then an encoded exception if there is one
};
constexpr bool is_work(message m) noexcept { return m <= message::spmd_start; }
constexpr bool is_control(message m) noexcept { return m > message::spmd_start && m <= message::stop; }

/// Where the result of a task goes: a slot of the rank that submitted it.
struct return_address {
  std::uint64_t slot;
  std::int32_t rank;
  std::int32_t part;  ///< spmd: whose result it is
};

/// One number for it, which is not 0.
inline std::uint64_t flow_of(const return_address& to) noexcept {
  return static_cast<std::uint64_t>(to.rank + 1) << 40 | (to.slot & ((std::uint64_t{1} << 40) - 1));
}

struct task_head {
  return_address to;
  std::uint64_t started;  ///< the time of the task's parent: see sched/worker.hpp
  std::uint32_t callable;
  std::int32_t local_worker;  ///< of the receiving rank, or -1
  std::uint8_t place;         ///< dist::place
  std::uint8_t in_spmd;       ///< it descends from an spmd body
  std::uint8_t unused[2];
  std::uint32_t moves;  ///< how often it has gone from rank to rank, with this time
};

struct moved_head {
  return_address to;
  std::uint32_t moves;
  std::uint32_t unused;
};

/// What follows a result_head.
enum class ending : std::uint8_t {
  value = 0,
  exception,      ///< encoded
  own_exception,  ///< the address of one: the result is for the rank that sends it
};

struct result_head {
  return_address to;
  ending what;
  std::uint8_t unused[7];
};

struct spmd_head {
  return_address to;
  std::uint64_t number;   ///< the order that rank 0 gives, from 0 in each run
  std::uint64_t started;  ///< the time of the caller
  std::uint32_t callable;
  std::uint32_t unused;
};

struct steal_head {
  std::uint32_t early;  ///< 1: the asking rank still has work
  std::uint32_t unused;
};

struct reply_head {
  std::uint32_t count;
  std::uint32_t unused;
};

struct credit_head {
  std::uint64_t cost;
};

struct calm_head {
  std::int64_t nanoseconds;
};

struct wave_head {
  std::uint64_t number;
  std::uint64_t sent;
  std::uint64_t received;
  std::int32_t failed_rank;  ///< the lowest one whose root threw, or -1
  std::uint8_t closing;
  std::uint8_t unused[3];
};

struct failure_head {
  std::int32_t rank;  ///< or -1
  std::uint32_t unused;
};

inline void take_bytes(std::span<const std::byte>& payload, void* to, std::size_t size) {
  if (payload.size() < size) throw error("plait: a message is shorter than its head: it is damaged");
  std::memcpy(to, payload.data(), size);
  payload = payload.subspan(size);
}

/// Reads the struct that a payload begins with, and steps over it.
template <class Head>
Head take_head(std::span<const std::byte>& payload) {
  Head head;
  take_bytes(payload, &head, sizeof head);
  return head;
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
