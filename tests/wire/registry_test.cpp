// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <vector>

namespace wire = plait::wire;

namespace registry_test {
double simulate(const int&) { return 0; }
}  // namespace registry_test

namespace {

using registry_test::simulate;

template <auto F>
struct tag {};

int other() { return 0; }

template <auto F, auto G, class T>
struct tag_of_several {};
template <class... T>
int of_types(T...) {
  return 0;
}

const int operations_of_simulate = 1;
wire::registry_entry entry_simulate{typeid(tag<&simulate>).name(), &operations_of_simulate};
wire::registry_entry entry_other{typeid(tag<&other>).name(), nullptr};

// The program may hold entries beside those of this file.
std::vector<std::string> keys_of(const wire::registry_ids& ids) {
  std::vector<std::string> keys;
  for (std::size_t id = 0; id < ids.size(); ++id) keys.emplace_back(ids.key(static_cast<std::uint32_t>(id)));
  return keys;
}

}  // namespace

TEST_CASE("an entry is found by its id, and its id by the entry") {
  const auto ids = wire::registry_ids::snapshot();
  const auto id = ids.id_of(entry_simulate);
  CHECK(&ids.entry(id) == &entry_simulate);
  CHECK(ids.entry(id).operations() == &operations_of_simulate);
  CHECK(ids.key(id) == entry_simulate.key());
  CHECK(ids.id_of(entry_other) != id);
  CHECK_THROWS_AS(ids.entry(static_cast<std::uint32_t>(ids.size())), plait::error);
}

TEST_CASE("an entry has the readable name of its function") {
  CHECK(entry_simulate.name().starts_with("registry_test::simulate"));
  CHECK(entry_other.name() == "(anonymous namespace)::other");
  const auto several = [](const std::type_info& key) { return wire::readable_key(key.name()); };
  CHECK(several(typeid(tag_of_several<&other, &simulate, long>)) == "(anonymous namespace)::other");
  CHECK(several(typeid(tag_of_several<&simulate, &other, long>)) == "registry_test::simulate");
  CHECK(
      several(typeid(tag_of_several<&of_types<int, long>, &other, long>)).ends_with("of_types<int, long>(int, long)"));
}

TEST_CASE("ids are in the order of the names, whatever the order of linking") {
  static const char* const keys[] = {"zeta", "alpha", "mid"};
  const auto with = [](std::vector<int> order) {
    std::deque<wire::registry_entry> entries;
    for (const int i : order) entries.emplace_back(keys[i], nullptr);
    return wire::registry_ids::snapshot();
  };
  const auto one = with({0, 1, 2});
  const auto two = with({2, 0, 1});
  const auto sorted = keys_of(one);
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  CHECK(sorted == keys_of(two));
  CHECK(one.keys() == two.keys());
  CHECK(one.digest() == two.digest());
  CHECK(one.digest() != with({0, 1}).digest());
}

TEST_CASE("the generation tells of entries that come and go, and those that came later have no id") {
  const auto before = wire::registry_generation();
  const auto ids = wire::registry_ids::snapshot();
  CHECK(ids.generation() == before);
  {
    const wire::registry_entry late{"late", nullptr};
    CHECK(wire::registry_generation() != before);
    CHECK_THROWS_AS(ids.id_of(late), plait::error);
    CHECK(wire::registry_ids::snapshot().size() == ids.size() + 1);
  }
  CHECK(keys_of(wire::registry_ids::snapshot()) == keys_of(ids));
}

TEST_CASE("older snapshots keep their ids when newer ones exist") {
  const auto ids = wire::registry_ids::snapshot();
  const auto id = ids.id_of(entry_simulate);
  const wire::registry_entry first{"  sorts first", nullptr};
  const auto newer = wire::registry_ids::snapshot();
  CHECK(newer.id_of(entry_simulate) != id);
  CHECK(ids.id_of(entry_simulate) == id);
}

TEST_CASE("a name that occurs twice is told apart by its place in an identified module") {
  static const wire::registry_entry first{"same", nullptr};
  static const wire::registry_entry second{"same", nullptr};
  const auto ids = wire::registry_ids::snapshot();
  const auto name_one = ids.key(ids.id_of(first));
  const auto name_two = ids.key(ids.id_of(second));
  CHECK(name_one != name_two);
  CHECK((name_one.starts_with("same@build id ") || name_one.starts_with("same@code ")));
  const auto again = wire::registry_ids::snapshot();
  CHECK(name_one == again.key(again.id_of(first)));
  const auto place_one = wire::place_in_module(&first);
  const auto place_two = wire::place_in_module(&second);
  CHECK(place_one.identity == place_two.identity);
  CHECK(place_two.offset - place_one.offset ==
        reinterpret_cast<std::uintptr_t>(&second) - reinterpret_cast<std::uintptr_t>(&first));
  CHECK(wire::place_in_module(&std::generic_category()).identity != place_one.identity);  // in the standard library
}

TEST_CASE("the comparison of two ranks names what differs") {
  const std::string reference = "1fi\n1gi@build id aa + 8\ncommon\n";
  const std::string own = "1gi@build id bb + 8\ncommon\n";
  const auto text = wire::compare(reference, own);
  CHECK(text == "missing here: 1fi, 1gi [build id aa + 8]; known only here: 1gi [build id bb + 8]");
  CHECK(wire::compare(own, own).empty());
  std::string many;
  for (int i = 0; i < 15; ++i) many += "x\n";
  CHECK(wire::compare(many, own).find("and 5 more") != std::string::npos);
}

TEST_CASE("entries may come and go on several threads") {
  const auto before = wire::registry_ids::snapshot().size();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        const wire::registry_entry entry{"threaded", nullptr};
        if (i % 50 == 0) CHECK(wire::registry_generation() > 0);
      }
    });
  }
  threads.clear();
  CHECK(wire::registry_ids::snapshot().size() == before);
}

TEST_CASE("ten thousand entries are numbered quickly") {
  std::vector<std::string> keys;
  for (int i = 0; i < 10'000; ++i) {
    keys.push_back("N5plait4dist3tagIXadL_Z" + std::to_string(i * 7919 % 10'007) + "simulateRK6paramsEEEE");
  }
  std::deque<wire::registry_entry> entries;
  for (const auto& key : keys) entries.emplace_back(key.c_str(), nullptr);
  double best = 1e9;  // milliseconds of processor time
  for (int i = 0; i < 5; ++i) {
    const auto start = std::clock();
    const auto ids = wire::registry_ids::snapshot();
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    CHECK(ids.size() >= 10'000);
  }
  MESSAGE("10,000 entries: " << best << " ms");
  CHECK(best < 1000);  // 10 when optimised; sanitizers take longer
}
