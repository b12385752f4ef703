// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/net/transport.hpp>
#include <plait/task/unobserved.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Collective. Gives every rank the value, of plain bytes, that rank `root` has.
template <class T>
T broadcast_value(net::transport& transport, const T& value, int root) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  transport.broadcast(bytes, root);
  T result;
  std::memcpy(&result, bytes.data(), sizeof result);
  return result;
}

/// Collective. Gives every rank the text that rank `root` has.
inline std::string broadcast_text(net::transport& transport, const std::string& text, int root) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  transport.broadcast(bytes, root);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Collective. Every rank's value, which is not negative. A rank that cannot take part gives its reason as `refusal`,
/// which is rethrown there; plait::error on the others, with the reason of the lowest such rank.
inline std::vector<std::int64_t> gather_unless_refused(net::transport& transport, std::int64_t value,
                                                       const std::exception_ptr& refusal) {
  auto all = transport.gather_all(refusal ? -1 : value);
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] >= 0) continue;
    const auto why = broadcast_text(transport, refusal ? plait::detail::describe(refusal) : std::string(), rank);
    if (refusal) std::rethrow_exception(refusal);
    throw error(base::compose({"plait: rank ", rank, " can't start its part of the runtime: ", why}));
  }
  return all;
}

/// Collective. The callables of this process with the ids that all ranks use. Rank 0's list is the reference: only its
/// digest is compared, and names travel only if a rank differs. Then registry_mismatch on every rank, naming the
/// functions.
inline wire::registry_ids agree_on_callables(net::transport& transport) {
  auto ids = wire::registry_ids::snapshot();
  const bool same = broadcast_value(transport, ids.digest(), 0) == ids.digest();
  const auto differs = transport.gather_all(same ? 0 : 1);
  std::int64_t different = 0;
  for (const auto d : differs) different += d;
  if (different == 0) return ids;

  const auto keys = broadcast_text(transport, ids.keys(), 0);
  std::string text;
  for (int r = 0; r < transport.size(); ++r) {
    if (differs[static_cast<std::size_t>(r)] == 0) continue;
    const auto own = r == transport.rank() ? wire::compare(keys, ids.keys()) : std::string();
    text += base::compose({"; rank ", r, ": ", broadcast_text(transport, own, r)});
  }
  throw registry_mismatch(
      base::compose({"plait: the ranks do not have the same callables, so they run different programs or builds", text,
                     ". Start all ranks from the same build"}));
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
