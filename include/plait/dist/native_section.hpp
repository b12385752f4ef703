// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/dist/link.hpp>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {
namespace dist {

/// Keeps plait's own calls of MPI out while a thread makes native ones, below MPI_THREAD_MULTIPLE: it holds the
/// transport.
class native_section {
 public:
  static void open(link& l) noexcept {
    l.hold().acquire();
    current() = &l;
  }
  /// By the thread that has opened it.
  static void close(link& l) noexcept {
    current() = nullptr;
    l.release();
  }
  /// Whether the calling thread is in a section of this link, and so holds its transport.
  static PLAIT_NOINLINE bool inside(const link& l) noexcept { return current() == &l; }

 private:
  static PLAIT_NOINLINE link*& current() noexcept {
    static thread_local link* link_of_section = nullptr;
    return link_of_section;
  }
};

}  // namespace dist
}  // namespace PLAIT_DIST
}  // namespace plait
