// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/runtime.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {

inline void report_escape(const std::exception_ptr& e) noexcept {
  std::string line;
  try {
    line = base::compose({"plait: ", plait::detail::in_one_line(plait::detail::describe(e)), "\n"});
  } catch (...) {
    line = "plait: an exception left the main task\n";
  }
  std::fputs(line.c_str(), stderr);
}

template <auto Main>
auto main_task(int argc, char** argv) {
  if constexpr (std::is_invocable_v<decltype(Main), int, char**>) {
    return Main(argc, argv);
  } else {
    return Main();
  }
}

}  // namespace dist

/// The body of a main function: a runtime, one run of the task Main on rank 0, and a report on stderr of an exception
/// that escapes it, one line. Main is a coroutine function without parameters, or with (int argc, char** argv), that
/// gives task<void> or task<int>. Returns the exit code, the same on all ranks: Main's int, else 0, or 1 after an
/// exception.
template <auto Main>
int launch(int argc, char** argv, options o = {}) {
  using made = decltype(dist::main_task<Main>(argc, argv));
  static_assert(
      std::is_same_v<made, task<void>> || std::is_same_v<made, task<int>>,
      "plait: launch needs a function that gives task<void> or task<int>, without parameters or with (int, char**)");
  try {
    runtime rt(argc, argv, o);
    int code = 0;
    try {
      if constexpr (std::is_same_v<made, task<int>>) {
        const auto result = rt.run([&] { return dist::main_task<Main>(argc, argv); });
        code = result.value_or(0);
      } else {
        rt.run([&] { return dist::main_task<Main>(argc, argv); });
      }
    } catch (...) {
      code = 1;
      if (rt.rank() == 0) dist::report_escape(std::current_exception());
    }
    return dist::broadcast_value(rt.node().transport(), code, 0);
  } catch (...) {
    dist::report_escape(std::current_exception());
    return 1;
  }
}

}  // namespace PLAIT_DIST
}  // namespace plait
