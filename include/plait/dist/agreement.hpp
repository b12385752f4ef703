// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/errors.hpp>
#include <plait/net/transport.hpp>
#include <plait/task/unobserved.hpp>
#include <plait/wire/codec.hpp>
#include <plait/wire/registry.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Gives every rank the value that rank `root` has.
template <class T>
T broadcast_value(net::transport& transport, const T& value, int root) {
  std::vector<std::byte> bytes;
  if (transport.rank() == root) {
    wire::writer out(bytes);
    wire::encode(out, value);
  }
  transport.broadcast(bytes, root);
  wire::reader in(bytes);
  return wire::decode<T>(in);
}

/// Collective. Every rank's value, which is not negative. A rank that cannot take part gives its reason as `refusal`,
/// which is rethrown there; plait::error on the others, with the reason of the lowest such rank.
inline std::vector<std::int64_t> gather_unless_refused(net::transport& transport, std::int64_t value,
                                                       const std::exception_ptr& refusal) {
  auto all = transport.gather_all(refusal ? -1 : value);
  const auto first = std::find_if(all.begin(), all.end(), [](std::int64_t v) { return v < 0; });
  if (first == all.end()) return all;
  const int rank = static_cast<int>(first - all.begin());
  const auto why = broadcast_value(transport, refusal ? plait::detail::describe(refusal) : std::string(), rank);
  if (refusal) std::rethrow_exception(refusal);
  throw error("plait: rank " + std::to_string(rank) + " can't start its part of the runtime: " + why);
}

/// Collective. The callables of this process with the ids that all ranks use. Rank 0's list is the reference: only its
/// digest is compared, and names travel only if a rank differs. Then registry_mismatch on every rank, naming the
/// functions.
inline wire::registry_ids agree_on_callables(net::transport& transport) {
  auto ids = wire::registry_ids::snapshot();
  const auto own = ids.digest();
  std::vector<std::byte> reference(sizeof own);
  std::memcpy(reference.data(), &own, sizeof own);
  transport.broadcast(reference, 0);
  const bool same = std::memcmp(reference.data(), &own, sizeof own) == 0;
  const auto differs = transport.gather_all(same ? 0 : 1);
  if (std::all_of(differs.begin(), differs.end(), [](std::int64_t d) { return d == 0; })) return ids;

  const auto names = broadcast_value(transport, ids.names(), 0);
  std::string text;
  for (int r = 0; r < transport.size(); ++r) {
    if (differs[static_cast<std::size_t>(r)] == 0) continue;
    text += "; rank " + std::to_string(r) + ": " +
            broadcast_value(transport, r == transport.rank() ? wire::compare(names, ids.names()) : std::string(), r);
  }
  throw registry_mismatch("plait: the ranks do not have the same callables, so they run different programs or builds" +
                          text + ". Start all ranks from the same build");
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
