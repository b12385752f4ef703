// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/function_ref.hpp>
#include <plait/dist/link.hpp>
#include <plait/dist/messages.hpp>
#include <plait/wire/exception.hpp>
#include <plait/wire/registry.hpp>

#include <cstddef>
#include <exception>
#include <vector>

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
    const result_head head{to, 0, {}};
    try {
      link_.send(to.rank, message::result, [&](wire::writer& out) {
        out.write(&head, sizeof head);
        fill(out);
      });
    } catch (...) {
      send_failure(to, std::current_exception(), task);
    }
  }

  /// The exception that a task has thrown.
  void send_failure(const return_address& to, const std::exception_ptr& e, const wire::registry_entry& task) noexcept {
    const result_head head{to, 1, {}};
    auto& transport = link_.transport();
    const auto bytes = wire::written([&](wire::writer& out) {
      wire::encode_exception(out, e, transport.rank(), transport.host_name(), task.name());
    });
    link_.send(to.rank, message::result, [&](wire::writer& out) {
      out.write(&head, sizeof head);
      out.write(bytes.data(), bytes.size());
    });
  }

 private:
  link& link_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
