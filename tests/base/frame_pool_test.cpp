// SPDX-License-Identifier: BSL-1.0
#include <plait/base/frame_pool.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

using plait::base::allocate_frame;
using plait::base::frame_depot;
using plait::base::release_frame;

TEST_CASE("frames of every size are aligned, apart from each other, and usable to their last byte") {
  struct frame {
    unsigned char* memory;
    std::size_t size;
  };
  std::vector<frame> frames;
  for (std::size_t size = 1; size <= 5000; size += size < 2200 ? 13 : 700) {
    auto* memory = static_cast<unsigned char*>(allocate_frame(size));
    REQUIRE(reinterpret_cast<std::uintptr_t>(memory) % alignof(std::max_align_t) == 0);
    std::memset(memory, static_cast<int>(size % 251), size);
    frames.push_back({memory, size});
  }
  for (const auto& f : frames) {
    bool intact = true;
    for (std::size_t i = 0; i < f.size; ++i) intact = intact && f.memory[i] == f.size % 251;
    CHECK(intact);
    release_frame(f.memory, f.size);
  }
}

#if !PLAIT_ASAN
TEST_CASE("a released frame is used again, the last one first") {
  void* first = allocate_frame(200);
  void* second = allocate_frame(200);
  release_frame(first, 200);
  release_frame(second, 200);
  CHECK(allocate_frame(200) == second);
  CHECK(allocate_frame(200) == first);
  release_frame(first, 200);
  release_frame(second, 200);
}

TEST_CASE("frames that always die in another thread do not let the memory grow") {
  constexpr std::size_t size = 300;
  const auto round = [] {
    std::vector<void*> frames(1000);
    for (auto& f : frames) f = allocate_frame(size);
    std::thread([&] {
      for (auto* f : frames) release_frame(f, size);
    }).join();
  };
  round();
  const auto before = frame_depot::instance().reserved_bytes();
  for (int i = 0; i < 50; ++i) round();
  // What one thread's lists may keep back for itself, not fifty times a thousand frames.
  CHECK(frame_depot::instance().reserved_bytes() <= before + 2 * 64 * 320 + 4096);
}

TEST_CASE("the frames of a thread that has ended are used by others") {
  constexpr std::size_t size = 1500;
  std::set<void*> of_thread;
  std::thread([&] {
    for (int i = 0; i < 64; ++i) of_thread.insert(allocate_frame(size));
    for (auto* f : of_thread) release_frame(f, size);
  }).join();
  std::vector<void*> mine;
  bool seen = false;
  for (int i = 0; i < 300; ++i) {  // more than this thread's own lists can hold
    mine.push_back(allocate_frame(size));
    seen = seen || of_thread.contains(mine.back());
  }
  CHECK(seen);
  for (auto* f : mine) release_frame(f, size);
}
#endif

TEST_CASE("several threads that pass frames on to each other keep them apart") {
  constexpr int threads = 3, rounds = 3000;
  std::vector<std::vector<unsigned char*>> given(threads);
  for (int r = 0; r < 4; ++r) {
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        auto& from = given[static_cast<std::size_t>(t)];
        for (auto* f : from) release_frame(f, 100);
        from.clear();
        for (int i = 0; i < rounds; ++i) {
          auto* f = static_cast<unsigned char*>(allocate_frame(100));
          std::memset(f, t, 100);
          from.push_back(f);
        }
      });
    }
    for (auto& t : running) t.join();
    std::set<unsigned char*> all;
    std::size_t wrong = 0;
    for (int t = 0; t < threads; ++t) {
      for (auto* f : given[static_cast<std::size_t>(t)]) {
        all.insert(f);
        wrong += f[0] != t || f[99] != t;
      }
    }
    CHECK(wrong == 0);
    CHECK(all.size() == std::size_t{threads} * rounds);
    std::swap(given[0], given[1]);
    std::swap(given[1], given[2]);
  }
  for (auto& g : given) {
    for (auto* f : g) release_frame(f, 100);
  }
}
