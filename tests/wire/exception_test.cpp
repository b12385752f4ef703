// SPDX-License-Identifier: BSL-1.0
#include <plait/wire/library_exceptions.hpp>

#include <doctest/doctest.h>

#include <any>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <vector>

namespace wire = plait::wire;

namespace errors_of_user {

struct plain : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct with_text : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct with_fields : std::exception {
  int code = 0;
  std::string detail;
  const char* what() const noexcept override { return detail.c_str(); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(code, detail);
  }
};
struct refuses : std::exception {
  const char* what() const noexcept override { return "refuses"; }
  template <class Archive>
  void save(Archive&) const {
    throw std::logic_error("not this time");
  }
  template <class Archive>
  void load(Archive&) {}
};
struct cannot_load : std::exception {
  const char* what() const noexcept override { return "cannot load"; }
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive&) {
    throw std::logic_error("not here");
  }
};

inline plait::transferable_exception<with_text> register_with_text;
inline plait::transferable_exception<with_fields> register_with_fields;
inline plait::transferable_exception<refuses> register_refuses;
inline plait::transferable_exception<cannot_load> register_cannot_load;

}  // namespace errors_of_user

namespace {

std::exception_ptr journey(const std::exception_ptr& thrown) {
  std::vector<std::byte> bytes;
  wire::writer out(bytes);
  wire::encode_exception(out, thrown, 3, "node7", "simulate(int)");
  out.flush();
  wire::reader in(bytes);
  auto arrived = wire::decode_exception(in);
  in.expect_end();
  return arrived;
}

template <class E>
std::exception_ptr journey(E thrown) {
  return journey(std::make_exception_ptr(std::move(thrown)));
}

// The exact type and the text after a journey.
template <class E>
void check_arrives(const E& thrown) {
  CAPTURE(typeid(E).name());
  try {
    std::rethrow_exception(journey(thrown));
  } catch (const std::exception& arrived) {
    CHECK(typeid(arrived) == typeid(E));
    CHECK(std::string(arrived.what()) == thrown.what());
  }
}

plait::remote_error arrived_remote(const std::exception_ptr& arrived) {
  try {
    std::rethrow_exception(arrived);
  } catch (const plait::remote_error& remote) {
    return remote;
  }
}

}  // namespace

TEST_CASE("standard exceptions arrive with their exact type and text") {
  check_arrives(std::runtime_error("r"));
  check_arrives(std::range_error("r"));
  check_arrives(std::overflow_error("r"));
  check_arrives(std::underflow_error("r"));
  check_arrives(std::logic_error("l"));
  check_arrives(std::domain_error("l"));
  check_arrives(std::invalid_argument(""));
  check_arrives(std::length_error("l"));
  check_arrives(std::out_of_range(std::string(5000, 'l')));
  check_arrives(std::exception());
  check_arrives(std::bad_exception());
  check_arrives(std::bad_alloc());
  check_arrives(std::bad_array_new_length());
  check_arrives(std::bad_cast());
  check_arrives(std::bad_any_cast());
  check_arrives(std::bad_typeid());
  check_arrives(std::bad_weak_ptr());
  check_arrives(std::bad_function_call());
  check_arrives(std::bad_optional_access());
  check_arrives(std::bad_variant_access());
  check_arrives(std::future_error(std::future_errc::broken_promise));
  check_arrives(std::regex_error(std::regex_constants::error_brack));
}

TEST_CASE("system errors arrive with code, category and text") {
  const auto code = std::make_error_code(std::errc::no_such_file_or_directory);
  check_arrives(std::system_error(code));
  check_arrives(std::system_error(code, "opening x"));
  check_arrives(std::system_error(5, std::system_category(), "a: b"));
  check_arrives(std::ios_base::failure("stream"));
  check_arrives(std::filesystem::filesystem_error("reading", code));
  check_arrives(std::filesystem::filesystem_error("reading", "/a", code));
  check_arrives(std::filesystem::filesystem_error("copying", "/a", "/b", code));
  try {
    std::rethrow_exception(journey(std::filesystem::filesystem_error("copying", "/a", "/b", code)));
  } catch (const std::filesystem::filesystem_error& arrived) {
    CHECK(arrived.code() == code);
    CHECK(arrived.path2() == "/b");
  }
}

TEST_CASE("a system error of an unknown category arrives as remote_error") {
  struct category : std::error_category {
    const char* name() const noexcept override { return "own"; }
    std::string message(int) const override { return "m"; }
  };
  static const category own;
  CHECK(arrived_remote(journey(std::system_error(1, own, "t"))).text() == "t: m");
}

TEST_CASE("plait's own exceptions arrive as themselves") {
  check_arrives(plait::error("e"));
  check_arrives(plait::cancelled_error());
  check_arrives(plait::cancelled_error("because"));
  check_arrives(plait::timeout_error());
  check_arrives(plait::registry_mismatch("m"));
  const plait::remote_error first(9, "far", "task", "type", "text");
  const auto arrived = arrived_remote(journey(first));
  CHECK(arrived.rank() == 9);
  CHECK(arrived.what() == std::string(first.what()));
}

TEST_CASE("registered exceptions arrive with type and members") {
  check_arrives(errors_of_user::with_text("wt"));
  errors_of_user::with_fields thrown;
  thrown.code = 42;
  thrown.detail = "d";
  try {
    std::rethrow_exception(journey(thrown));
  } catch (const errors_of_user::with_fields& arrived) {
    CHECK(arrived.code == 42);
    CHECK(arrived.detail == "d");
  }
}

TEST_CASE("a registration ends with its object") {
  {
    const plait::transferable_exception<errors_of_user::plain> registration;
    check_arrives(errors_of_user::plain("p"));
  }
  CHECK(arrived_remote(journey(errors_of_user::plain("p"))).text() == "p");
}

TEST_CASE("any other exception arrives as remote_error that says where it came from") {
  const auto arrived = arrived_remote(journey(errors_of_user::plain("lost")));
  CHECK(arrived.rank() == 3);
  CHECK(arrived.host() == "node7");
  CHECK(arrived.task_name() == "simulate(int)");
  CHECK(arrived.type_name() == "errors_of_user::plain");
  CHECK(arrived.text() == "lost");
  const auto number = arrived_remote(journey(42));
  CHECK(number.type_name() == "int");
  CHECK(number.text().empty());
  CHECK(arrived_remote(journey(std::string("just text"))).text() == "just text");
  CHECK(arrived_remote(journey<const char*>("c text")).text() == "c text");
}

struct says_nothing : std::runtime_error {
  using std::runtime_error::runtime_error;
  const char* what() const noexcept override { return nullptr; }
};

TEST_CASE("an exception whose what() is a null pointer arrives without a text") {
  const auto arrived = arrived_remote(journey(says_nothing("unsaid")));
  CHECK(arrived.type_name().find("says_nothing") != std::string::npos);
  CHECK(arrived.text().empty());
  const plait::transferable_exception<says_nothing> registration;
  bool as_itself = false;
  try {
    std::rethrow_exception(journey(says_nothing("unsaid")));
  } catch (const says_nothing&) {  // not CHECK_THROWS_AS, which asks what it says
    as_itself = true;
  }
  CHECK(as_itself);
}

TEST_CASE("an exception that cannot be written or read is not lost") {
  CHECK(arrived_remote(journey(errors_of_user::refuses())).text() == "refuses");
  CHECK(arrived_remote(journey(errors_of_user::cannot_load())).text() == "cannot load");
}

TEST_CASE("several exceptions follow one another, and a cut one is an error") {
  std::vector<std::byte> bytes;
  {
    wire::writer out(bytes);
    wire::encode_exception(out, std::make_exception_ptr(std::bad_alloc()), 0, "", "");
    wire::encode_exception(out, std::make_exception_ptr(errors_of_user::refuses()), 1, "h", "t");
  }
  wire::reader in(bytes);
  CHECK_THROWS_AS(std::rethrow_exception(wire::decode_exception(in)), std::bad_alloc);
  CHECK_THROWS_AS(std::rethrow_exception(wire::decode_exception(in)), plait::remote_error);
  in.expect_end();
  wire::reader cut(std::span<const std::byte>(bytes).first(20));
  CHECK_THROWS_AS(wire::decode_exception(cut), plait::error);
}
