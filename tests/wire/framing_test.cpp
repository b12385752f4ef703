// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/codec.hpp>
#include <plait/wire/framing.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace wire = plait::wire;

namespace {

struct message {
  std::uint16_t kind;
  std::uint32_t epoch;
  std::string text;
  friend bool operator==(const message&, const message&) = default;
};

std::vector<std::byte> frame_of(const std::vector<message>& messages) {
  std::vector<std::byte> frame;
  wire::frame_builder builder(frame);
  for (const auto& m : messages) builder.add(m.kind, m.epoch, std::as_bytes(std::span(m.text)));
  builder.flush();
  return frame;
}

std::vector<message> messages_of(std::span<const std::byte> frame) {
  std::vector<message> messages;
  wire::for_each_message(frame, [&](std::uint16_t kind, std::uint32_t epoch, std::span<const std::byte> payload) {
    CHECK((payload.data() - frame.data()) % 8 == 0);
    messages.push_back({kind, epoch, {reinterpret_cast<const char*>(payload.data()), payload.size()}});
  });
  return messages;
}

}  // namespace

TEST_CASE("messages come out of a frame as they went in, at multiples of eight bytes") {
  const std::vector<message> messages{{1, 2, "hello"}, {3, 0xFFFFFFFF, ""}, {0xFFFF, 0, "12345678"}, {4, 5, "x"}};
  const auto frame = frame_of(messages);
  CHECK(frame.size() % 8 == 0);
  CHECK(messages_of(frame) == messages);
  CHECK(messages_of({}).empty());
}

TEST_CASE("a payload is encoded into the frame, and blocks in it are aligned") {
  std::vector<std::byte> frame;
  const std::tuple value(std::string("odd"), std::vector<double>(100, 0.5));
  {
    wire::frame_builder builder(frame);
    builder.add(1, 1, std::as_bytes(std::span("xyz")));
    builder.add(2, 1, [&](wire::writer& out) { wire::encode(out, value); });
    CHECK(builder.messages() == 2);
    CHECK(builder.size() >= 848);
  }
  std::size_t seen = 0;
  const auto count =
      wire::for_each_message(frame, [&](std::uint16_t kind, std::uint32_t, std::span<const std::byte> payload) {
        if (kind != 2) return;
        wire::reader in(payload);
        CHECK(wire::decode<std::remove_const_t<decltype(value)>>(in) == value);
        in.expect_end();
        ++seen;
      });
  CHECK(count == 2);
  CHECK(seen == 1);
}

TEST_CASE("a payload that cannot be written leaves the frame as it was") {
  std::vector<std::byte> frame;
  wire::frame_builder builder(frame);
  builder.add(1, 1, std::as_bytes(std::span("first")));
  const auto size = builder.size();
  CHECK_THROWS_AS(builder.add(2, 1,
                              [](wire::writer& out) {
                                wire::encode(out, std::string(1000, 'x'));
                                throw std::runtime_error("no");
                              }),
                  std::runtime_error);
  CHECK(builder.size() == size);
  CHECK(builder.messages() == 1);
  builder.flush();
  CHECK(messages_of(frame).size() == 1);
}

TEST_CASE("a frame that was cut or changed is an error and is never read beyond its end") {
  const auto frame = frame_of({{1, 2, "hello"}, {3, 4, "a longer text than before"}});
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    if (size == 0 || size == 24) {  // between messages
      CHECK_NOTHROW(messages_of(cut));
    } else {
      CHECK_THROWS_AS(messages_of(cut), plait::error);
    }
  }
  for (std::size_t byte = 0; byte < 8; ++byte) {  // the length
    auto changed = frame;
    changed[byte] ^= std::byte{0x80};
    CHECK_THROWS_AS(messages_of(changed), plait::error);
  }
}
