// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/transferable.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <coroutine>
#include <filesystem>
#include <functional>
#include <future>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <typeindex>

using plait::transferable;
using plait::wire::format;
using plait::wire::obstacle;

namespace {

struct plain {
  int a;
  double b[3];
  std::array<char, 8> c;
  struct {
    short d, e;
  } inner;
};
struct derived_plain : plain {
  unsigned bits : 3;
};
struct holds_pointer {
  int n;
  const char* text;
};
struct holds_deep {
  double a[2];
  struct {
    int b;
    holds_pointer c;
  } inner;
};
struct holds_view {
  double weight;
  std::string_view name;
};
struct holds_array_of_pointers {
  int n;
  int* rows[4];
};
struct holds_function {
  void (*callback)();
};
union either {
  int a;
  float b;
};
class closed {
 public:
  explicit closed(int a) : a_(a) {}
  int a() const { return a_; }

 private:
  int a_;
};
struct opened {
  void* handle;
};
struct in_memory_only {
  in_memory_only(const in_memory_only&) = delete;
  int a = 0;
};
struct with_virtual {
  virtual ~with_virtual() = default;
  template <class Archive>
  void serialize(Archive&) {}
};
struct last final : with_virtual {};
struct twice {
  std::string text;
  template <class Archive>
  void serialize(Archive&) {}
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive&) {}
};
struct needs_argument {
  explicit needs_argument(std::string t) : text(std::move(t)) {}
  std::string text;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text);
  }
};
struct functor {
  double factor;
  double operator()(double x) const { return factor * x; }
};

template <class T>
constexpr obstacle why = format<T>::why();

}  // namespace

template <>
inline constexpr bool plait::wire::enable_as_bytes<opened> = true;

TEST_CASE("values without addresses are transferable") {
  static_assert(transferable<int>);
  static_assert(transferable<const double>);
  static_assert(transferable<plain>);
  static_assert(transferable<derived_plain>);
  static_assert(transferable<either>);
  static_assert(transferable<closed>);
  static_assert(transferable<functor>);
  static_assert(transferable<std::complex<float>>);
  static_assert(transferable<std::vector<std::optional<std::pair<std::string, plain>>>>);
  static_assert(transferable<std::unique_ptr<std::map<int, std::string>>>);
  static_assert(transferable<std::unique_ptr<last>>);
  static_assert(transferable<with_virtual>);
  static_assert(transferable<decltype([] {})>);
}

TEST_CASE("pointers are not transferable, wherever they hide") {
  static_assert(why<int*> == obstacle::raw_pointer);
  static_assert(why<void*> == obstacle::raw_pointer);
  static_assert(why<const char*> == obstacle::raw_pointer);
  static_assert(why<std::vector<int*>> == obstacle::raw_pointer);
  static_assert(why<std::optional<int*>> == obstacle::raw_pointer);
  static_assert(why<std::tuple<int, char*>> == obstacle::raw_pointer);
  static_assert(why<std::pair<char*, int>> == obstacle::raw_pointer);
  static_assert(why<std::array<int*, 2>> == obstacle::raw_pointer);
  static_assert(why<std::variant<int, int*>> == obstacle::raw_pointer);
  static_assert(why<std::map<int, std::vector<int*>>> == obstacle::raw_pointer);
  static_assert(why<std::shared_ptr<int*>> == obstacle::raw_pointer);
  static_assert(why<std::shared_ptr<void>> == obstacle::raw_pointer);
  static_assert(why<void (*)(int)> == obstacle::function_pointer);
  static_assert(why<int> == obstacle::none);
  static_assert(why<void (plain::*)()> == obstacle::function_pointer);
  static_assert(why<std::set<int, bool (*)(int, int)>> == obstacle::function_pointer);
}

TEST_CASE("members of plain structs are looked at") {
  static_assert(why<holds_pointer> == obstacle::unsafe_member);
  static_assert(why<holds_deep> == obstacle::unsafe_member);
  static_assert(why<holds_view> == obstacle::unsafe_member);
  static_assert(why<holds_array_of_pointers> == obstacle::unsafe_member);
  static_assert(why<holds_function> == obstacle::unsafe_member);
  static_assert(why<std::vector<holds_pointer>> == obstacle::unsafe_member);
  static_assert(transferable<opened>);
}

TEST_CASE("references, views and iterators are not transferable") {
  static_assert(why<int&> == obstacle::reference);
  static_assert(why<const std::string&> == obstacle::reference);
  static_assert(why<std::tuple<int&>> == obstacle::reference);
  static_assert(why<std::string_view> == obstacle::view);
  static_assert(why<std::span<const double>> == obstacle::view);
  static_assert(why<std::reference_wrapper<int>> == obstacle::view);
  static_assert(why<std::vector<int>::iterator> == obstacle::view);
  static_assert(why<std::ranges::subrange<int*>> == obstacle::view);
  static_assert(why<std::vector<std::string_view>> == obstacle::view);
}

TEST_CASE("callables with state are not transferable") {
  int n = 1;
  const auto by_copy = [n] { return n; };
  const auto by_reference = [&n] { return n; };
  static_assert(why<decltype(by_copy)> == obstacle::lambda);
  static_assert(why<decltype(by_reference)> == obstacle::lambda);
  static_assert(why<std::vector<std::remove_const_t<decltype(by_copy)>>> == obstacle::lambda);
  static_assert(why<std::function<void()>> == obstacle::function_object);
  CHECK(by_copy() == by_reference());
}

TEST_CASE("handles of this process are not transferable") {
  static_assert(why<std::error_code> == obstacle::process_bound);
  static_assert(why<std::type_index> == obstacle::process_bound);
  static_assert(why<std::thread::id> == obstacle::process_bound);
  static_assert(why<std::coroutine_handle<>> == obstacle::process_bound);
  static_assert(why<std::thread> == obstacle::not_serializable);
  static_assert(why<std::future<int>> == obstacle::not_serializable);
}

TEST_CASE("other types say what is in the way") {
  static_assert(why<int[3]> == obstacle::c_array);
  static_assert(why<std::unique_ptr<int[]>> == obstacle::array_pointer);
  static_assert(why<std::shared_ptr<int[]>> == obstacle::array_pointer);
  static_assert(why<std::unique_ptr<with_virtual>> == obstacle::polymorphic_pointer);
  static_assert(why<std::shared_ptr<with_virtual>> == obstacle::polymorphic_pointer);
  static_assert(why<std::unique_ptr<int, void (*)(int*)>> == obstacle::not_serializable);
  static_assert(why<in_memory_only> == obstacle::not_movable);
  static_assert(why<twice> == obstacle::ambiguous);
  static_assert(why<needs_argument> == obstacle::not_constructible);
  static_assert(why<std::vector<needs_argument>> == obstacle::not_constructible);
  static_assert(why<void> == obstacle::not_serializable);
}
