// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/base/fiber.hpp>

#include <sys/mman.h>

#include <cstddef>
#include <optional>

namespace {

char byte_at(const char* from) { return *from; }

}  // namespace

TEST_CASE("what comes to lie where a stack was can be read, also under the address sanitizer") {
  constexpr std::size_t size = 64 * 1024;
  std::optional<plait::base::stack_memory> stack(std::in_place, size);
  auto* const floor = stack->floor();
#if PLAIT_ASAN
  __asan_poison_memory_region(floor, size);  // as frames do that do not return
#endif
  stack.reset();
  auto* const file = static_cast<char*>(
      ::mmap(floor, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
  REQUIRE(static_cast<void*>(file) == static_cast<void*>(floor));
  CHECK(byte_at(file) == 0);
  CHECK(byte_at(file + size - 1) == 0);
  ::munmap(file, size);
}
