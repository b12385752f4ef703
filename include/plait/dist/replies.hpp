// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/function_ref.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/wire/exception.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Sends the results of tasks to where they were submitted. Any thread.
class replies {
 public:
  explicit replies(link& l) noexcept : link_(l) {}

  /// A result. `fill(writer&)` writes it; what that throws is sent instead.
  void send(const return_address& to, const wire::registry_entry& task,
            function_ref<void(wire::writer&)> fill) noexcept {
    const result_head head{to, ending::value, {}};
    try {
      link_.send(to.rank, message::result, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        fill(out);
      });
    } catch (...) {
      send_failure(to, std::current_exception(), task);
    }
  }

  /// The exception that a task has thrown. On the way to the own rank, as from a body of an spmd call or a task that
  /// has come back, it stays the object that it is.
  void send_failure(const return_address& to, const std::exception_ptr& e, const wire::registry_entry& task) noexcept {
    auto& transport = link_.transport();
    if (to.rank == transport.rank()) return send_own(to, e);
    const result_head head{to, ending::exception, {}};
    const auto bytes = wire::written([&](wire::writer& out) {
      wire::encode_exception(out, e, transport.rank(), transport.host_name(), task.name());
    });
    link_.send(to.rank, message::result, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      out.write(bytes.data(), bytes.size());
    });
  }

 private:
  void send_own(const return_address& to, const std::exception_ptr& e) noexcept {
    const result_head head{to, ending::own_exception, {}};
    auto* const kept = new std::exception_ptr(e);  // read_failure ends it: no result is lost in a run
    link_.send(to.rank, message::result, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      out.write(&kept, sizeof kept);
    });
  }

  link& link_;
};

/// Throws plait::error if the message is damaged.
inline result_head take_result_head(std::span<const std::byte>& payload, bool from_own_rank) {
  const auto head = take_head<result_head>(payload);
  if (head.what > ending::own_exception || (head.what == ending::own_exception && !from_own_rank))
    throw error("plait: a result says what it cannot be: the message is damaged");
  return head;
}
/// The exception that send_failure wrote. Throws plait::error if the message is damaged.
inline std::exception_ptr read_failure(wire::reader& in, const result_head& head) {
  if (head.what != ending::own_exception) return wire::decode_exception(in);
  std::exception_ptr* kept = nullptr;
  in.read(&kept, sizeof kept);
  const std::unique_ptr<std::exception_ptr> end(kept);
  return std::move(*kept);
}

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
