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

PLAIT_INTERFACE

namespace plait {

/// What is called with an exception that nobody can observe any more, and the name of its task.
using unobserved_exception_handler = std::function<void(std::exception_ptr, std::string_view task)>;

namespace detail {

struct unobserved_state {
  base::mutex mutex;
  /// Calls the handler that was set. Null: none. So that only programs that set one compile std::function.
  void (*call)(const std::exception_ptr& e, std::string_view task) = nullptr;
  static PLAIT_EXPORT unobserved_state& instance() {
    static auto* state = new unobserved_state;  // tasks may end after static destructors
    return *state;
  }
};

/// "<type>: <what()>" of an exception, or its text if it is one; the type alone where there is nothing to say.
inline base::text description_of(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& x) {
    return base::compose_text({demangle_text(typeid(x).name()), ": ", base::what_of(x)});
  } catch (const std::string& text) {
    return base::compose_text({"std::string: ", text});
  } catch (const char* text) {
    return base::compose_text({"const char*: ", text != nullptr ? text : "a null pointer"});
  } catch (...) {
    const auto* type = abi::__cxa_current_exception_type();
    return type != nullptr ? demangle_text(type->name()) : base::text("an exception of unknown type");
  }
}
/// The same as a string.
inline std::string describe(const std::exception_ptr& e) { return description_of(e).c_str(); }

/// A text for a report of one line: line breaks stand as \n and \r.
inline base::text in_one_line(std::string_view text) {
  base::text line;
  for (;;) {
    const auto length = text.find_first_of("\r\n");
    if (length == std::string_view::npos) break;
    line.append(text.data(), length);
    line.append(text[length] == '\n' ? "\\n" : "\\r", 2);
    text.remove_prefix(length + 1);
  }
  line.append(text.data(), text.size());
  return line;
}

inline void print_unobserved(const std::exception_ptr& e, std::string_view task) {
  std::fprintf(stderr, "plait: unobserved exception in %s: %s\n", in_one_line(task).c_str(),
               in_one_line(description_of(e)).c_str());
}

inline void report_unobserved(const std::exception_ptr& e, std::string_view task) noexcept {
  try {
    auto& state = unobserved_state::instance();
    state.mutex.lock();
    auto* const call = state.call;
    state.mutex.unlock();
    (call != nullptr ? call : &print_unobserved)(e, task);
  } catch (...) {
    std::fputs("plait: the handler of unobserved exceptions threw\n", stderr);
  }
}

/// The handler, by the mutex of unobserved_state.
PLAIT_EXPORT inline unobserved_exception_handler& unobserved_handler() {
  static auto* handler = new unobserved_exception_handler;  // as there
  return *handler;
}

/// What the state points to when there is a handler.
inline void call_unobserved_handler(const std::exception_ptr& e, std::string_view task) {
  unobserved_exception_handler handler;
  {
    const std::lock_guard lock(unobserved_state::instance().mutex);
    handler = unobserved_handler();
  }
  if (!handler) return print_unobserved(e, task);  // taken away meanwhile
  handler(e, task);
}

}  // namespace detail

/// Sets what is called with exceptions that nobody can observe any more: of detached tasks, of dropped futures, of
/// callbacks. An empty function sets the default: one line on stderr. Returns the handler before. Any thread; the
/// handler may be called by several threads at once. A throw in it is reported on stderr.
inline unobserved_exception_handler set_unobserved_exception_handler(unobserved_exception_handler handler) {
  auto& state = detail::unobserved_state::instance();
  const std::lock_guard lock(state.mutex);
  state.call = handler ? &detail::call_unobserved_handler : nullptr;
  std::swap(handler, detail::unobserved_handler());
  return handler;
}

}  // namespace plait
