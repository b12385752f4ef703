// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/link.hpp>
#include <plait/net/thread_level.hpp>

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Keeps plait's own calls of MPI out while a thread makes native ones, below MPI_THREAD_MULTIPLE: it holds the
/// transport.
class native_section {
 public:
  native_section(link& l, thread_level level) : link_(level == thread_level::multiple ? nullptr : &l) {
    if (link_ == nullptr) return;
    link_->hold().acquire();
    if (link_->transport().size() > 1) link_->flush();  // what others need is on its way before the section
    open() = link_;
  }
  ~native_section() {
    if (link_ == nullptr) return;
    open() = nullptr;
    link_->hold().release();
  }
  native_section(const native_section&) = delete;
  native_section& operator=(const native_section&) = delete;

  /// Whether the calling thread is in a section of this link, and so holds its transport.
  static PLAIT_NOINLINE bool inside(const link& l) noexcept { return open() == &l; }

 private:
  static PLAIT_NOINLINE link*& open() noexcept {
    static thread_local link* current = nullptr;
    return current;
  }

  link* link_;
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
