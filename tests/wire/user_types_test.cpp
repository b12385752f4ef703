// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/codec.hpp>

#include "round_trip.hpp"

#include <doctest/doctest.h>
#include <cereal/types/atomic.hpp>
#include <cereal/types/base_class.hpp>
#include <cereal/types/map.hpp>  // both must be ignored for what plait serves itself
#include <cereal/types/polymorphic.hpp>
#include <cereal/types/valarray.hpp>
#include <cereal/types/vector.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <valarray>
#include <vector>

using wire_test::round_trip;

namespace user {

struct point {
  double x = 0, y = 0;
  std::string label;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(x), y, cereal::make_nvp("label", label));
  }
  friend bool operator==(const point&, const point&) = default;
};

// Trivially copyable, but its save and load say what to send.
struct window {
  const double* data = nullptr;
  int size = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(size);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(size);
  }
};

class secret {
 public:
  secret() = default;
  explicit secret(int value) : value_(value) {}
  int value() const { return value_; }

 private:
  friend class cereal::access;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(value_, table_, flags_);
  }
  int value_ = 0;
  std::vector<std::map<std::string, int>> table_{{{"a", 1}}};
  bool flags_[3] = {true, false, true};
};

struct outside {
  std::string text;
  int numbers[4] = {};
};
template <class Archive>
void serialize(Archive& archive, outside& value) {
  archive& value.text& value.numbers;
}

struct versioned {
  int a = 0;
  std::uint32_t seen = 0;
  template <class Archive>
  void serialize(Archive& archive, const std::uint32_t version) {
    archive(a);
    seen = version;
  }
};

struct minimal {
  std::string text;
  template <class Archive>
  std::string save_minimal(const Archive&) const {
    return text;
  }
  template <class Archive>
  void load_minimal(const Archive&, const std::string& value) {
    text = value;
  }
};

struct base {
  virtual ~base() = default;
  int in_base = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(in_base);
  }
};
struct derived : base {
  std::string in_derived;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::base_class<base>(this), in_derived);
  }
};

struct node {
  std::string name;
  std::vector<std::shared_ptr<node>> children;
  std::weak_ptr<node> parent;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, children, parent);
  }
};

struct link {
  std::unique_ptr<link> next;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(next);
  }
};

// No default constructor: cereal's way to make it.
class account {
 public:
  explicit account(std::string owner) : owner_(std::move(owner)) {}
  const std::string& owner() const { return owner_; }
  int balance = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(owner_, balance);
  }
  template <class Archive>
  static void load_and_construct(Archive& archive, cereal::construct<account>& construct) {
    std::string owner;
    archive(owner);
    construct(owner);
    archive(construct->balance);
  }

 private:
  std::string owner_;
};

struct nothing {
  template <class Archive>
  void serialize(Archive&) {}
};

struct with_cereal_types {
  std::atomic<int> counter{0};
  std::valarray<double> values;
  std::vector<std::byte> block;
  template <class Archive>
  void save(Archive& archive) const {
    archive(counter, values, cereal::make_size_tag(static_cast<cereal::size_type>(block.size())));
    archive(cereal::binary_data(block.data(), block.size()));
  }
  template <class Archive>
  void load(Archive& archive) {
    cereal::size_type size = 0;
    archive(counter, values, cereal::make_size_tag(size));
    block.resize(static_cast<std::size_t>(size));
    archive(cereal::binary_data(block.data(), block.size()));
  }
  with_cereal_types() = default;
  with_cereal_types(const with_cereal_types& other)
      : counter(other.counter.load()), values(other.values), block(other.block) {}
};

struct refuses {
  int value = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(value);
    if (value < 0) throw std::domain_error("negative");
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(value);
    if (value > 100) throw std::domain_error("too large");
  }
};

}  // namespace user

CEREAL_CLASS_VERSION(user::versioned, 3)

TEST_CASE("types with serialize, save and load, inside or outside of the class, travel") {
  const user::point p{1, 2, "here"};
  CHECK(round_trip(p) == p);
  CHECK(round_trip(std::vector<user::point>(3, p)) == std::vector<user::point>(3, p));
  CHECK(round_trip(std::map<std::string, user::point>{{"k", p}}).at("k") == p);
  CHECK(round_trip(user::secret(5)).value() == 5);
  const auto back = round_trip(user::outside{"text", {1, 2, 3, 4}});
  CHECK(back.text == "text");
  CHECK(back.numbers[3] == 4);
  CHECK(round_trip(user::minimal{"m"}).text == "m");
}

TEST_CASE("a user's own functions win over the bytes of a trivially copyable type") {
  const double number = 1;
  const auto back = round_trip(user::window{&number, 7});
  CHECK(back.size == 7);
  CHECK(back.data == nullptr);
}

TEST_CASE("class versions and base classes work as in cereal") {
  const auto back = round_trip(std::vector<user::versioned>(2, user::versioned{4, 0}));
  CHECK(back.at(1).a == 4);
  CHECK(back.at(1).seen == 3);
  user::derived d;
  d.in_base = 1;
  d.in_derived = "two";
  const auto again = round_trip(d);
  CHECK(again.in_base == 1);
  CHECK(again.in_derived == "two");
}

TEST_CASE("graphs of shared objects come back with their cycles") {
  const auto root = std::make_shared<user::node>();
  root->name = "root";
  for (const char* name : {"a", "b"}) {
    root->children.push_back(std::make_shared<user::node>(user::node{name, {}, root}));
  }
  root->children[0]->children.push_back(root->children[1]);
  const auto back = round_trip(root);
  CHECK(back->children.at(1)->name == "b");
  CHECK(back->children[0]->children.at(0) == back->children[1]);
  CHECK(back->children[0]->parent.lock() == back);
}

TEST_CASE("load_and_construct serves types without default constructor") {
  user::account one("ada");
  one.balance = 5;
  const auto back = round_trip(std::vector<user::account>{one, user::account("bob")});
  CHECK(back.at(0).owner() == "ada");
  CHECK(back.at(0).balance == 5);
  CHECK(back.at(1).owner() == "bob");
  CHECK(round_trip(std::make_shared<user::account>("eve"))->owner() == "eve");
}

TEST_CASE("containers of values that take no bytes keep their length") {
  CHECK(round_trip(std::vector<user::nothing>(1000)).size() == 1000);
}

TEST_CASE("members that only cereal's own headers serve are sent by them") {
  user::with_cereal_types value;
  value.counter = 9;
  value.values = {1, 2, 3};
  value.block = {std::byte{1}, std::byte{2}};
  const auto back = round_trip(value);
  CHECK(back.counter == 9);
  CHECK(back.values[2] == 3);
  CHECK(back.block == value.block);
}

TEST_CASE("a save that throws leaves the message as it was, a load's exception passes through") {
  std::vector<std::byte> bytes;
  plait::wire::writer out(bytes);
  plait::wire::encode(out, 1);
  CHECK_THROWS_AS(plait::wire::encode(out, std::vector<user::refuses>{{1}, {-1}}), std::domain_error);
  CHECK(out.size() == sizeof(int));
  CHECK_THROWS_AS(round_trip(user::refuses{200}), std::domain_error);
}

TEST_CASE("nesting beyond the limit is an error when it is sent") {
  user::link chain;
  for (int i = 0; i < 500; ++i) {
    user::link outer;
    outer.next = std::make_unique<user::link>(std::move(chain));
    chain = std::move(outer);
  }
  CHECK(round_trip(chain).next->next != nullptr);
  for (int i = 0; i < 600; ++i) {
    user::link outer;
    outer.next = std::make_unique<user::link>(std::move(chain));
    chain = std::move(outer);
  }
  CHECK_THROWS_AS(round_trip(chain), plait::error);
}
