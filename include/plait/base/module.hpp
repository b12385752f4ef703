// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/config.hpp>

#if PLAIT_SHARED_CODE && defined(__linux__)
#include <dlfcn.h>

/// Each program and shared library has one of its own.
PLAIT_INTERFACE

extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;
#endif

namespace plait::base {

/// Keeps the shared library that the calling code is part of loaded until the process ends, whoever closes it: for what
/// its first user makes and all others go on using. Does nothing in code that was compiled for a program.
PLAIT_ALWAYS_INLINE void keep_this_module() noexcept {
#if PLAIT_SHARED_CODE && defined(__linux__)
  Dl_info info{};
  if (::dladdr(&__dso_handle, &info) != 0) ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}

}  // namespace plait::base
