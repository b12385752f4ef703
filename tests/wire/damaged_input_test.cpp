// SPDX-License-Identifier: BSL-1.0
// Messages that were cut, or in which bits flipped, must throw plait::error or give some value; never crash. Worth most
// when built with the address and undefined-behaviour sanitizers.
#include <plait/wire/exception.hpp>

#include "round_trip.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

// Damage can turn a tree of shared objects into a ring, which would never be freed: all leaves are known, to cut them.
struct leaf {
  std::string name;
  double weight = 0;
  std::vector<std::shared_ptr<leaf>> children;
  std::optional<std::vector<bool>> flags;

  leaf() { living().insert(this); }
  explicit leaf(std::string name_) : leaf() { name = std::move(name_); }
  leaf(const leaf& other) : leaf(other.name) {
    weight = other.weight;
    children = other.children;
    flags = other.flags;
  }
  leaf& operator=(const leaf&) = default;
  ~leaf() { living().erase(this); }

  static std::set<leaf*>& living() {
    static std::set<leaf*> all;
    return all;
  }
  static void cut_new_ones(const std::set<leaf*>& old) {
    std::vector<std::shared_ptr<leaf>> cut;  // freed when the loop is over
    for (leaf* one : living()) {
      if (old.contains(one)) continue;
      for (auto& child : one->children) cut.push_back(std::move(child));
    }
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, weight, children, flags);
  }
};

struct shape {
  std::variant<int, std::string, std::vector<leaf>> content;
  std::unique_ptr<shape> next;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(content, next);
  }
};

template <class T>
void read_damaged(std::span<const std::byte> bytes) {
  try {
    plait::wire::reader in(bytes);
    static_cast<void>(plait::wire::decode<T>(in));
  } catch (const plait::error&) {
  }
}

// In a buffer of its own, so that a sanitizer sees each byte beyond its end.
template <class T>
void damage(const T& value, int rounds) {
  const auto bytes = wire_test::encoded(value);
  const auto old = leaf::living();
  std::mt19937 random(42);
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 64) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    plait::wire::reader in(cut);
    CHECK_THROWS_AS(plait::wire::decode<T>(in), plait::error);
    leaf::cut_new_ones(old);
  }
  for (int round = 0; round < rounds; ++round) {
    auto changed = bytes;
    const auto flips = 1 + random() % 4;
    for (unsigned flip = 0; flip < flips; ++flip) {
      auto& byte = changed[random() % changed.size()];
      byte = random() % 4 == 0 ? std::byte{0xFF} : byte ^ static_cast<std::byte>(1U << (random() % 8));
    }
    if (random() % 4 == 0) changed.resize(random() % changed.size());
    changed.shrink_to_fit();
    read_damaged<T>(changed);
    leaf::cut_new_ones(old);
  }
}

leaf some_leaf() {
  leaf top("top");
  top.flags = std::vector<bool>(9, true);
  for (int i = 0; i < 3; ++i) top.children.push_back(std::make_shared<leaf>("child"));
  top.children.push_back(top.children[0]);
  return top;
}

}  // namespace

TEST_CASE("damaged messages of standard types throw or give a value") {
  damage(std::vector<double>(20, 1.5), 2000);
  damage(std::vector<std::string>{"a", "bb", std::string(300, 'c')}, 2000);
  damage(std::tuple(true, std::string("text"), std::vector<bool>{true, false}, std::optional<int>(4)), 2000);
  damage(std::map<std::string, std::vector<std::variant<int, std::string>>>{{"k", {1, "v"}}, {"l", {}}}, 2000);
  damage(std::unordered_map<int, std::set<std::string>>{{1, {"x", "y"}}, {2, {"z"}}}, 2000);
  damage(std::vector<std::tuple<>>(40), 200);
}

TEST_CASE("damaged messages of user types and pointers throw or give a value") {
  damage(some_leaf(), 4000);
  damage(std::vector<std::shared_ptr<leaf>>(3, std::make_shared<leaf>(some_leaf())), 2000);
  shape value;
  value.content = std::vector<leaf>{some_leaf(), some_leaf()};
  value.next = std::make_unique<shape>();
  value.next->content = "inner";
  damage(value, 4000);
  damage(std::tuple(std::make_shared<int>(1), std::make_shared<std::string>("s")), 1000);
}

TEST_CASE("random bytes throw or give a value") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes(random() % 200);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 6);
    read_damaged<shape>(bytes);
    read_damaged<std::map<std::string, leaf>>(bytes);
    read_damaged<std::vector<std::vector<std::vector<std::tuple<>>>>>(bytes);
    leaf::cut_new_ones({});
  }
}

TEST_CASE("damaged exceptions throw or give some exception") {
  std::vector<std::byte> bytes;
  {
    plait::wire::writer out(bytes);
    plait::wire::encode_exception(out, std::make_exception_ptr(std::system_error(2, std::generic_category(), "open")),
                                  1, "host", "task");
  }
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    auto changed = bytes;
    changed[random() % changed.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    if (random() % 3 == 0) changed.resize(random() % changed.size());
    try {
      plait::wire::reader in(changed);
      const auto arrived = plait::wire::decode_exception(in);
      CHECK(arrived != nullptr);
    } catch (const plait::error&) {
    }
  }
}
