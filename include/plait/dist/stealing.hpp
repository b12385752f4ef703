// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/submit.hpp>
#include <plait/task/when_all.hpp>

#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {

inline void set_stealing_here(bool on) { running("set_stealing").second->home->set_stealing(on); }

/// A template so that programs that do not use it do not pay for it in compile time.
template <class Bool>
task<void> set_stealing(Bool on) {
  const int ranks = running("enable_stealing or disable_stealing").second->home->size();
  std::vector<future<void>> told;
  for (int r = 0; r < ranks; ++r) told.push_back(submit<&set_stealing_here>(on_rank(r), on));
  for (auto& t : told) co_await t;
}

}  // namespace dist

/// `co_await enable_stealing()` lets idle ranks take tasks from busy ones. For all ranks, in force everywhere when it
/// resumes, and until it is switched again. From any task.
template <class Bool = bool>
task<void> enable_stealing() {
  return dist::set_stealing<Bool>(true);
}
/// `co_await disable_stealing()` keeps submitted tasks on the ranks where they are placed.
template <class Bool = bool>
task<void> disable_stealing() {
  return dist::set_stealing<Bool>(false);
}

}  // namespace PLAIT_DIST
}  // namespace plait
