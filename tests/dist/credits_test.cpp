// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../support/ranks_case.hpp"

// Flow control of tasks that are submitted to a place.
namespace credits_cases {

using plait::dist::credit;
using plait::dist::message;
using plait::dist::outflow;

/// The numbers that the messages of a frame begin with.
std::vector<int> numbers_in(const plait::net::frame& frame) {
  std::vector<int> numbers;
  plait::wire::for_each_message(frame, [&](std::uint16_t, std::uint32_t, std::span<const std::byte> payload) {
    int number = 0;
    std::memcpy(&number, payload.data(), sizeof number);
    numbers.push_back(number);
  });
  return numbers;
}

/// Sends messages of a size through an outflow, as an outbox does, and keeps what has gone.
struct sender {
  outflow flow;
  std::vector<int> gone;
  std::vector<plait::net::frame> frames;
  int next = 0;

  void put(message kind, std::size_t size, bool counts) {
    const int number = next++;
    const auto fill = [&](plait::wire::writer& out) {
      out.write(&number, sizeof number);
      const std::vector<std::byte> rest(size - sizeof number);
      out.write(rest.data(), rest.size());
    };
    if (flow.must_hold(kind, counts)) return flow.hold(kind, 1, fill, counts);
    gone.push_back(number);
    if (counts) flow.sent(size);
  }
  void returned(std::uint64_t cost) {
    flow.returned(cost, [this](plait::net::frame&& frame) {
      for (const int n : numbers_in(frame)) gone.push_back(n);
      frames.push_back(std::move(frame));
    });
  }
  bool in_order() const {
    for (std::size_t i = 0; i < gone.size(); ++i) {
      if (gone[i] != static_cast<int>(i)) return false;
    }
    return true;
  }
};

TEST_CASE("tasks beyond the window wait, and go in order as credit comes back") {
  sender s;
  constexpr std::size_t size = 1000;
  constexpr auto cost = credit::cost(size);
  constexpr auto fit = static_cast<int>((credit::window + cost - 1) / cost);
  const int all = 3 * fit;
  for (int i = 0; i < all; ++i) s.put(message::task, size, true);
  CHECK(s.gone.size() == static_cast<std::size_t>(fit));
  std::uint64_t returned = 0;
  for (int i = 0; i < all; ++i) {
    s.returned(cost);
    returned += cost;
    const auto out = s.gone.size() * cost - returned;
    CHECK(out <= credit::window + plait::net::eager_limit / size * cost + cost);  // a frame goes as a whole
  }
  CHECK(s.gone.size() == static_cast<std::size_t>(all));
  CHECK(s.in_order());
  for (const auto& frame : s.frames) CHECK(frame.size() <= plait::net::eager_limit);
  CHECK_THROWS_AS(s.returned(1), plait::error);
  s.put(message::task, size, true);
  CHECK(s.gone.size() == static_cast<std::size_t>(all) + 1);
}

TEST_CASE("what counts nothing passes by, but a request to stop stays behind the tasks that wait") {
  sender s;
  s.put(message::stop, 16, false);
  s.put(message::task, credit::window, true);
  s.put(message::result, 100, false);
  CHECK(s.gone.size() == 3);
  s.put(message::task, 100, true);
  s.put(message::stop, 16, false);
  s.put(message::task, 2 * plait::net::eager_limit, true);
  s.put(message::task, 100, true);
  s.put(message::stop, 16, false);
  CHECK(s.gone.size() == 3);
  CHECK_FALSE(s.flow.must_hold(message::result, false));
  CHECK_FALSE(s.flow.must_hold(message::steal_done, false));
  s.returned(credit::cost(credit::window));
  CHECK(s.gone.size() == 8);
  CHECK(s.in_order());
  CHECK_FALSE(s.flow.must_hold(message::stop, false));
}

TEST_CASE("a task that can't be written does not wait") {
  sender s;
  s.put(message::task, credit::window, true);
  const auto broken = [](plait::wire::writer& out) {
    out.write("abc", 3);
    throw std::runtime_error("not writable");
  };
  CHECK_THROWS_AS(s.flow.hold(message::task, 1, broken, true), std::runtime_error);
  s.returned(0);
  s.put(message::task, 100, true);
  CHECK_THROWS_AS(s.flow.hold(message::task, 1, broken, true), std::runtime_error);
  s.put(message::task, 100, true);
  s.returned(credit::cost(credit::window));
  CHECK(s.gone == std::vector<int>{0, 1, 2});
  s.returned(2 * credit::cost(100));
  CHECK_THROWS_AS(s.returned(1), plait::error);
  s.put(message::task, credit::window, true);
  CHECK_THROWS_AS(s.flow.hold(message::task, 1, broken, true), std::runtime_error);
  s.returned(credit::cost(credit::window));
  for (const auto& frame : s.frames) CHECK_FALSE(frame.empty());  // a transport takes none
}

std::int64_t size_of(std::string text) { return static_cast<std::int64_t>(text.size()); }
plait::rank_local<std::atomic<int>> ran;
void count(std::string) { ++*ran; }
int ran_here() { return ran->exchange(0); }

constexpr int each = 3000;
constexpr std::size_t argument = 8000;  // bytes: more than two windows of them

RANKS_CASE("many more tasks than a window are all executed, on the ranks that they are for") {
  const auto sum = rt.run([]() -> plait::task<std::int64_t> {
    std::int64_t total = 0;
    for (int round = 0; round < 2; ++round) {
      std::vector<plait::future<std::int64_t>> futures;
      for (int i = 0; i < each; ++i) {
        for (int r = 0; r < plait::size(); ++r)
          futures.push_back(plait::submit<size_of>(plait::on_rank(r), std::string(argument, 'x')));
      }
      for (auto& f : futures) total += co_await f;
    }
    co_return total;
  });
  if (rt.rank() == 0) CHECK(*sum == std::int64_t{2} * each * static_cast<std::int64_t>(argument) * rt.size());
}

RANKS_CASE("tasks that wait for credit can be cancelled, and the run ends") {
  rt.run([]() -> plait::task<void> {
    const int last = plait::size() - 1;
    std::vector<plait::future<>> futures;
    for (int i = 0; i < each; ++i)
      futures.push_back(plait::submit<count>(plait::on_rank(last), std::string(argument, 'x')));
    for (auto& f : futures) static_cast<void>(f.cancel());
    int ended = 0;
    for (auto& f : futures) {
      try {
        co_await f;
        ++ended;
      } catch (const plait::cancelled_error&) {
      }
    }
    CHECK(ended == co_await plait::submit<ran_here>(plait::on_rank(last)));
  });
}

}  // namespace credits_cases
