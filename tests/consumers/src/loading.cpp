// SPDX-License-Identifier: BSL-1.0

// loading (shared|alone) LIBRARY...: loads each library again and again, uses it, and closes it. `shared`: this program
// exports its symbols, so library and program are one; else each has a plait of its own, and they share no tasks.
#include <plait/core.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <string_view>

#include "loading.hpp"
#include "own_fib.hpp"

namespace {

plait::task<long> both(const loaded_functions& library, plait::pool& here) {
  auto theirs = library.spawn_in(here, 12);
  auto ours = co_await plait::fork(own_fib(12));
  const long a = co_await ours;
  co_return a + co_await theirs;
}

bool use(const loaded_functions& library, bool shared) {
  if (library.run_alone(12) != 2 * 144) return false;
  if (!shared) return true;
  plait::pool here({.workers = 2});
  if (here.run(both(library, here)) != 2 * 144) return false;
  try {
    library.spawn_in(here, -1).get();
    return false;
  } catch (const plait::error&) {  // of the type that this program knows
  }
  return library.default_pool() == &plait::pool::default_pool();
}

}  // namespace

int main(int argc, char** argv) {
  const bool shared = argc > 1 && std::string_view(argv[1]) == "shared";
  for (int round = 0; round < 3; ++round) {
    for (int i = 2; i < argc; ++i) {
      void* library = ::dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      void* again = ::dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      const auto* found =
          library == nullptr ? nullptr : static_cast<const loaded_functions*>(::dlsym(library, "plait_loaded"));
      if (found == nullptr || again == nullptr) {
        std::printf("%s\n", ::dlerror());
        return 2;
      }
      // The first to use the default pool is a library.
      if (!use(*found, shared)) return 3;
      ::dlclose(again);
      if (!use(*found, shared)) return 4;
      ::dlclose(library);
      if (plait::sync_wait(own_fib(12)) != 144) return 5;
    }
  }
  return 0;
}
