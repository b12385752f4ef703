// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/codec.hpp>

#include "round_trip.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

using wire_test::encoded;
using wire_test::round_trip;

namespace {

template <class T>
void check_same(const T& value) {
  CHECK(round_trip(value) == value);
}

enum class colour : std::uint8_t { red, green };

// Trivially copyable, no default constructor.
struct params {
  params(int a_, double b_) : a(a_), b(b_) {}
  int a;
  double b;
  friend bool operator==(const params&, const params&) = default;
};

struct fixed {
  const int id;  // makes it unassignable
  double values[3];
};

}  // namespace

TEST_CASE("numbers, enumerations and plain structs come back with their bytes") {
  check_same(true);
  check_same('x');
  check_same(std::numeric_limits<std::int64_t>::min());
  check_same(0.1f);
  check_same(std::numeric_limits<double>::denorm_min());
  check_same(1e-4000L);
  check_same(colour::green);
  check_same(std::byte{200});
  check_same(nullptr);
  check_same(std::complex<double>(1, -2));
  check_same(std::chrono::nanoseconds(123));
  check_same(std::chrono::system_clock::now());
  check_same(std::bitset<100>("1011"));
  check_same(std::monostate{});
  check_same(std::mt19937_64(7));
}

TEST_CASE("a trivially copyable type needs neither default constructor nor assignment") {
  check_same(params(1, 2.5));
  check_same(std::vector<params>{{1, 2.5}, {3, 4.5}});
  check_same(std::array<params, 2>{params{1, 2}, params{3, 4}});
  check_same(std::optional<params>(std::in_place, 1, 2.0));
  check_same(std::variant<params, std::string>(std::in_place_index<0>, 1, 2.0));
  check_same(std::make_tuple(params(1, 2), std::string("s"), std::vector<params>{{5, 6}}));
  check_same(std::map<std::string, params>{{"a", params(1, 2)}});
  check_same(std::deque<params>{{1, 2.5}, {3, 4.5}});
  CHECK(*round_trip(std::make_unique<params>(8, 9.0)) == params(8, 9.0));
  CHECK(*round_trip(std::make_shared<params>(8, 9.0)) == params(8, 9.0));
  CHECK(round_trip(std::vector<fixed>{{4, {1, 2, 3}}}).at(0).values[2] == 3);
  CHECK(round_trip(std::pair(fixed{4, {1, 2, 3}}, std::string("x"))).first.id == 4);
}

TEST_CASE("standard containers come back equal") {
  check_same(std::string("h\0i", 3));
  check_same(std::u32string(U"\U0001F600 text"));
  check_same(std::string(100'000, 'z'));
  check_same(std::vector<int>{});
  check_same(std::vector<double>(10'000, 0.5));
  check_same(std::vector<std::string>{"a", "", "ccc"});
  check_same(std::vector<bool>{true, false, true});
  check_same(std::vector<std::vector<std::vector<int>>>{{{1}, {}}, {}, {{2, 3}, {4}}});
  check_same(std::array<int, 3>{1, 2, 3});
  check_same(std::array<std::string, 2>{"x", "y"});
  check_same(std::array<bool, 2>{true, false});
  check_same(std::array<int, 0>{});
  check_same(std::deque<int>{1, 2, 3});
  check_same(std::list<std::string>{"a", "b"});
  check_same(std::map<std::string, std::vector<int>>{{"a", {1}}, {"b", {}}});
  check_same(std::multimap<int, int>{{1, 2}, {1, 1}, {0, 3}});
  check_same(std::unordered_map<int, std::string>{{1, "a"}, {2, "b"}});
  check_same(std::unordered_multimap<int, int>{{1, 2}, {1, 3}});
  check_same(std::set<int, std::greater<>>{3, 1, 2});
  check_same(std::multiset<int>{1, 1, 2});
  check_same(std::unordered_set<std::string>{"p", "q"});
  check_same(std::unordered_multiset<int>{1, 1});
  check_same(std::optional<std::string>());
  check_same(std::optional<std::string>("x"));
  check_same(std::optional<std::optional<int>>(std::in_place, std::nullopt));
  check_same(std::variant<int, std::string, std::monostate>("v"));
  check_same(std::variant<int, int>(std::in_place_index<1>, 5));
  check_same(std::pair<std::string, int>("p", 1));
  check_same(std::tuple<>());
  check_same(std::tuple<std::tuple<int>>(std::tuple<int>(1)));
  check_same(std::vector<std::tuple<>>(300));
}

TEST_CASE("a block of numbers is read right from any address") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto bytes = encoded(std::tuple('c', values));
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<std::byte> moved(shift);
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    plait::wire::reader in(std::span<const std::byte>(moved).subspan(shift));
    CHECK(std::get<1>(plait::wire::decode<std::tuple<char, std::vector<double>>>(in)) == values);
  }
}

TEST_CASE("unique pointers travel with what they own") {
  CHECK(round_trip(std::unique_ptr<std::string>()) == nullptr);
  CHECK(*round_trip(std::make_unique<std::string>("own")) == "own");
  std::vector<std::unique_ptr<int>> several;
  several.push_back(std::make_unique<int>(1));
  several.push_back(nullptr);
  const auto back = round_trip(several);
  CHECK(*back.at(0) == 1);
  CHECK(back.at(1) == nullptr);
}

TEST_CASE("an object that is shared within one value is shared after it travelled") {
  const auto shared = std::make_shared<std::string>("s");
  const std::weak_ptr<std::string> weak = shared;
  const auto [a, b, c, d] =
      round_trip(std::tuple(shared, weak, std::make_shared<std::string>("s"), std::shared_ptr<int>()));
  CHECK(*a == "s");
  CHECK(b.lock() == a);
  CHECK(*c == "s");
  CHECK(c != a);
  CHECK(d == nullptr);
  CHECK(*round_trip(std::shared_ptr<const int>(std::make_shared<int>(3))) == 3);
}

TEST_CASE("values follow one another in one message, several bytes are left for others") {
  std::vector<std::byte> bytes;
  {
    plait::wire::writer out(bytes);
    plait::wire::encode(out, 1);
    plait::wire::encode(out, std::string("two"));
    plait::wire::encode(out, std::vector<int>(100, 3));
  }
  plait::wire::reader in(bytes);
  CHECK(plait::wire::decode<int>(in) == 1);
  CHECK(plait::wire::decode<std::string>(in) == "two");
  CHECK(in.remaining() > 400);
  CHECK(plait::wire::decode<std::vector<int>>(in).size() == 100);
  in.expect_end();
}

TEST_CASE("large plain data costs its size and a few bytes") {
  CHECK(encoded(std::vector<double>(1000)).size() <= 8000 + 17);
  CHECK(encoded(std::vector<params>(10, params(1, 2))).size() <= 10 * sizeof(params) + 9);
  CHECK(encoded(std::string(1000, 'x')).size() <= 1009);
}
