// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/reader.hpp>
#include <plait/wire/writer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using plait::wire::reader;
using plait::wire::writer;

TEST_CASE("a writer appends behind what the vector holds and leaves it with its exact size") {
  std::vector<std::byte> out(3, std::byte{9});
  {
    writer to(out);
    const std::uint32_t number = 7;
    to.write(&number, sizeof number);
    CHECK(to.size() == 4);
  }
  CHECK(out.size() == 7);
  CHECK(out[0] == std::byte{9});
  CHECK(out[3] == std::byte{7});
}

TEST_CASE("small and large pieces come back in order") {
  std::vector<std::byte> out;
  std::vector<std::uint16_t> large(100'000);
  std::iota(large.begin(), large.end(), std::uint16_t{0});
  {
    writer to(out);
    for (std::uint8_t i = 0; i < 200; ++i) {
      to.write(&i, 1);
      if (i % 50 == 0) to.write(large.data(), large.size() * sizeof large[0]);
    }
  }
  reader from(out);
  for (std::uint8_t i = 0; i < 200; ++i) {
    std::uint8_t got = 255;
    from.read(&got, 1);
    CHECK(got == i);
    if (i % 50 == 0) {
      std::vector<std::uint16_t> back(large.size());
      from.read(back.data(), back.size() * sizeof back[0]);
      CHECK(back == large);
    }
  }
  from.expect_end();
}

TEST_CASE("truncate forgets what came after, and patch overwrites what came before") {
  std::vector<std::byte> out;
  {
    writer to(out);
    to.write("abcdef", 6);
    to.truncate(3);
    to.write("XY", 2);
    to.patch(1, "-", 1);
    CHECK_THROWS_AS(to.patch(5, "!", 1), plait::error);
  }
  CHECK(std::string(reinterpret_cast<const char*>(out.data()), out.size()) == "a-cXY");
}

TEST_CASE("sizes take one byte when small and nine when large") {
  std::vector<std::byte> out;
  {
    writer to(out);
    to.write_size(254);
    CHECK(to.size() == 1);
    to.write_size(255);
    CHECK(to.size() == 10);
    to.write_size(UINT64_MAX);
  }
  reader from(out);
  CHECK(from.read_size(0) == 254);
  CHECK(from.read_size(0) == 255);
  CHECK(from.read_size(0) == UINT64_MAX);
}

TEST_CASE("reading beyond the end is an error that says where") {
  const std::vector<std::byte> bytes(4);
  reader from(bytes);
  from.take(3);
  std::uint32_t number = 0;
  try {
    from.read(&number, sizeof number);
    FAIL("no error");
  } catch (const plait::error& problem) {
    const std::string text = problem.what();
    CHECK(text.find("4 bytes") != text.npos);
    CHECK(text.find("at byte 3") != text.npos);
  }
  CHECK_THROWS_AS(from.expect_end(), plait::error);
}

TEST_CASE("a count of elements that cannot be left is an error before anything is allocated") {
  std::vector<std::byte> out;
  {
    writer to(out);
    to.write_size(std::uint64_t{1} << 60);
    to.write_size(2);
    to.write("abcdefghijklmnop", 16);
  }
  reader from(out);
  CHECK_THROWS_AS(from.read_size(1), plait::error);
  CHECK(from.read_size(8) == 2);
}
