// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/task/frame.hpp>

#include <string>
#include <string_view>
#include <utility>

PLAIT_INTERFACE

namespace plait {

namespace detail {

/// How a coroutine says that it is there to give a task its name.
struct task_name {
  std::string text;
};

/// The promise of such a coroutine. It reports an exception that nobody has seen before its base would.
template <class T>
struct named_promise : task_promise<T> {
  named_promise(task_name& name, task<T>&) noexcept : text(std::move(name.text)) { this->has_name = true; }
  ~named_promise() {
    if (this->kind == origin::call || !this->is_unobserved()) return;
    this->seen = true;
    report_unobserved(this->error, text);
  }

  std::string text;
};

template <class T>
std::string_view own_name_of(task_promise<T>& p) noexcept {
  return p.has_name ? std::string_view(static_cast<named_promise<T>&>(p).text) : std::string_view();
}

}  // namespace detail
}  // namespace plait
