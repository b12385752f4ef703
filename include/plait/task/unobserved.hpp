// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/compose.hpp>
#include <plait/base/errors.hpp>
#include <plait/base/functional.hpp>
#include <plait/base/mutex.hpp>
#include <plait/base/type_name.hpp>

#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace plait {

/// What is called with an exception that nobody can observe any more, and the name of its task.
using unobserved_exception_handler = std::function<void(std::exception_ptr, std::string_view task)>;

namespace detail {

struct unobserved_state {
  base::mutex mutex;
  unobserved_exception_handler handler;
  static PLAIT_EXPORT unobserved_state& instance() {
    static auto* state = new unobserved_state;  // tasks may end after static destructors
    return *state;
  }
};

/// "<type>: <what()>" of an exception.
inline std::string describe(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return base::compose({type_name(typeid(x)), ": ", x.what()});
  } catch (...) {
    const auto* type = abi::__cxa_current_exception_type();
    return type != nullptr ? type_name(*type) : std::string("an exception of unknown type");
  }
}

/// A text for a report of one line: line breaks stand as \n and \r.
inline std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\r') {
      line += "\\r";
    } else {
      line += c;
    }
  }
  return line;
}

inline void report_unobserved(std::exception_ptr e, std::string_view task) noexcept {
  try {
    unobserved_exception_handler handler;
    {
      auto& state = unobserved_state::instance();
      const std::lock_guard lock(state.mutex);
      handler = state.handler;
    }
    if (handler) return handler(std::move(e), task);
    std::fprintf(stderr, "plait: unobserved exception in %s: %s\n", in_one_line(task).c_str(),
                 in_one_line(describe(e)).c_str());
  } catch (...) {
    std::fputs("plait: the handler of unobserved exceptions threw\n", stderr);
  }
}

}  // namespace detail

/// Sets what is called with exceptions that nobody can observe any more: of detached tasks, of dropped futures, of
/// callbacks. An empty function sets the default: one line on stderr. Returns the handler before. Any thread; the
/// handler may be called by several threads at once. A throw in it is reported on stderr.
inline unobserved_exception_handler set_unobserved_exception_handler(unobserved_exception_handler handler) {
  auto& state = detail::unobserved_state::instance();
  const std::lock_guard lock(state.mutex);
  return std::exchange(state.handler, std::move(handler));
}

}  // namespace plait
