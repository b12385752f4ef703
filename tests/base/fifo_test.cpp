// SPDX-License-Identifier: BSL-1.0

#include <plait/base/fifo.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>

using plait::base::fifo;

TEST_CASE("a fifo gives what was put in, in order, also while more comes in than goes out") {
  fifo<std::unique_ptr<int>> queue;
  int in = 0;
  int out = 0;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < round % 7; ++i) queue.push_back(std::make_unique<int>(in++));
    for (int i = 0; i < round % 5 && !queue.empty(); ++i) {
      CHECK(*queue.front() == out);
      REQUIRE(*queue.pop_front() == out++);
    }
    REQUIRE(queue.size() == static_cast<std::size_t>(in - out));
  }
  while (!queue.empty()) REQUIRE(*queue.pop_front() == out++);
  CHECK(out == in);
  queue.push_back(std::make_unique<int>(7));
  queue.clear();
  CHECK(queue.empty());
}
