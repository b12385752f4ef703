// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

PLAIT_INTERFACE

namespace plait::base {

inline constexpr std::size_t large_page = std::size_t{2} << 20;

/// Memory that is touched in order and kept for long. From the size of a large page on the system is asked for such
/// pages, since most of what fresh memory costs is its first touch, a page at a time. Throws std::bad_alloc.
inline void* allocate_slab(std::size_t bytes) {
  if (bytes < large_page) return ::operator new (bytes, std::align_val_t{64});
  void* memory = ::operator new (bytes, std::align_val_t{large_page});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  ::madvise(memory, bytes & ~(large_page - 1), MADV_HUGEPAGE);
#endif
  return memory;
}

/// Gives back what allocate_slab(bytes) returned.
inline void release_slab(void* memory, std::size_t bytes) noexcept {
  ::operator delete (memory, std::align_val_t{bytes < large_page ? std::size_t{64} : large_page});
}

}  // namespace plait::base
