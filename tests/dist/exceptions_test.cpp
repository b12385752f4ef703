// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/plait.hpp>

#include <any>
#include <bitset>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
#include <vector>

#include "../support/ranks_case.hpp"

// Exceptions of tasks on their way to who waits for them.
namespace exceptions_cases {

using plait_test::detach;

constexpr int standard_kinds = 17;
/// Throws a standard exception of each kind.
[[noreturn]] void throw_standard(int kind) {
  switch (kind) {
    case 0:
      throw std::runtime_error("text");
    case 1:
      throw std::logic_error("text");
    case 2:
      throw std::invalid_argument("text");
    case 3:
      throw std::domain_error("text");
    case 4:
      throw std::length_error("text");
    case 5:
      throw std::out_of_range("text");
    case 6:
      throw std::range_error("text");
    case 7:
      throw std::overflow_error("text");
    case 8:
      throw std::underflow_error("text");
    case 9:
      throw std::system_error(ENOENT, std::generic_category(), "text");
    case 10:
      throw std::bad_alloc();
    case 11:
      throw std::bad_cast();
    case 12:
      throw std::bad_variant_access();
    case 13:
      throw std::bad_optional_access();
    case 14:
      throw plait::error("text");
    case 15:
      throw plait::cancelled_error();
    case 16:
      throw plait::timeout_error();
    default:
      throw std::bad_exception();
  }
}
void fail_standard(int kind) { throw_standard(kind); }
plait::task<int> fail_standard_later(int kind) {
  co_await plait::yield();
  throw_standard(kind);
  co_return kind;
}

std::string type_and_text(const std::exception_ptr& e) { return plait::detail::describe(e); }
std::string expected(int kind) {
  try {
    throw_standard(kind);
  } catch (...) {
    return type_and_text(std::current_exception());
  }
}

/// "<type>: <what>" of what a future gives.
template <class T>
plait::task<std::string> outcome(plait::future<T> f) {
  try {
    co_await f;
  } catch (...) {
    co_return type_and_text(std::current_exception());
  }
  co_return "nothing was thrown";
}

struct custom : std::runtime_error {
  custom() : std::runtime_error("a custom one") {}
};
struct not_derived {
  int n = 1;
};
void fail_custom() { throw custom(); }
int fail_with_42() { throw 42; }
void fail_not_derived() { throw not_derived{}; }
void fail_with_text() { throw "a literal"; }

struct registered : std::runtime_error {
  explicit registered(const std::string& text, int c = 0) : std::runtime_error(text), code(c) {}
  int code;
};
inline plait::transferable_exception<registered> register_registered;
struct with_members : std::exception {
  std::vector<int> numbers;
  const char* what() const noexcept override { return "with members"; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(numbers);
  }
};
inline plait::transferable_exception<with_members> register_with_members;

void fail_registered() { throw registered("registered text"); }
void fail_with_members() {
  with_members e;
  e.numbers = {1, 2, 3};
  throw e;
}

/// Can be made and moved, but not written.
struct refuses {
  int n = 0;
  refuses() = default;
  explicit refuses(int v) : n(v) {}
  template <class Archive>
  void save(Archive&) const {
    throw std::invalid_argument("refuses to be written");
  }
  template <class Archive>
  void load(Archive&) {
    throw std::invalid_argument("refuses to be read");
  }
};
refuses make_refusing(int n) { return refuses(n); }
int take_refusing(refuses r) { return r.n; }

/// Can be written and not be read.
struct one_way {
  int n = 0;
  template <class Archive>
  void save(Archive& archive) const {
    archive(n);
  }
  template <class Archive>
  void load(Archive& archive) {
    archive(n);
    throw std::range_error("can't be read");
  }
};
int take_one_way(one_way o) { return o.n; }
one_way make_one_way() { return {}; }

plait::task<int> outer(int rank) { co_return co_await plait::submit<fail_with_42>(plait::on_rank(rank)); }

RANKS_CASE("a standard exception arrives as its own type with its text") {
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      for (int kind = 0; kind <= standard_kinds; ++kind) {
        CHECK(co_await outcome(plait::submit<fail_standard>(plait::on_rank(r), kind)) == expected(kind));
        CHECK(co_await outcome(plait::submit<fail_standard_later>(plait::on_rank(r), kind)) == expected(kind));
      }
      try {
        co_await plait::submit<fail_standard>(plait::on_rank(r), 9);
      } catch (const std::system_error& e) {
        CHECK(e.code() == std::errc::no_such_file_or_directory);
      }
    }
  });
}

RANKS_CASE("an exception of another type keeps it on the same rank and is a remote_error from another") {
  rt.run([]() -> plait::task<void> {
    CHECK_THROWS_AS(plait::submit<fail_custom>(plait::on_rank(0)).get(), custom);
    CHECK_THROWS_AS(plait::submit<fail_with_42>(plait::on_rank(0)).get(), int);
    CHECK_THROWS_AS(plait::submit<fail_not_derived>(plait::on_rank(0)).get(), not_derived);
    for (int r = 1; r < plait::size(); ++r) {
      try {
        co_await plait::submit<fail_custom>(plait::on_rank(r));
        FAIL_CHECK("nothing was thrown");
      } catch (const plait::remote_error& e) {
        CHECK(e.rank() == r);
        CHECK(!e.host().empty());
        CHECK(e.task_name().find("fail_custom") != std::string::npos);
        CHECK(e.type_name().find("exceptions_cases::custom") != std::string::npos);
        CHECK(e.text() == "a custom one");
        const std::string what = e.what();
        for (const auto& part : {std::to_string(r), e.host(), e.task_name(), e.type_name(), e.text()}) {
          CHECK(what.find(part) != std::string::npos);
        }
      }
      try {
        co_await plait::submit<fail_with_42>(plait::on_rank(r));
        FAIL_CHECK("nothing was thrown");
      } catch (const plait::remote_error& e) {
        CHECK(e.type_name() == "int");
        CHECK(e.rank() == r);
      }
      CHECK_THROWS_AS(co_await plait::submit<fail_not_derived>(plait::on_rank(r)), plait::remote_error);
      try {
        co_await plait::submit<fail_with_text>(plait::on_rank(r));
        FAIL_CHECK("nothing was thrown");
      } catch (const plait::remote_error& e) {
        CHECK(e.text() == "a literal");
      }
    }
  });
}

RANKS_CASE("a registered exception arrives as its own type from any rank") {
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      CHECK_THROWS_WITH_AS(plait::submit<fail_registered>(plait::on_rank(r)).get(), "registered text", registered);
      try {
        co_await plait::submit<fail_with_members>(plait::on_rank(r));
        FAIL_CHECK("nothing was thrown");
      } catch (const with_members& e) {
        CHECK(e.numbers == std::vector<int>{1, 2, 3});
      }
    }
  });
}

RANKS_CASE("a result that can't be written or read is an exception of its future") {
  rt.run([]() -> plait::task<void> {
    CHECK((co_await plait::submit<make_refusing>(plait::on_rank(0), 3)).n == 3);  // nothing is written on the same rank
    for (int r = 1; r < plait::size(); ++r) {
      CHECK_THROWS_WITH_AS(plait::submit<make_refusing>(plait::on_rank(r), 3).get(), "refuses to be written",
                           std::invalid_argument);
      CHECK_THROWS_WITH_AS(plait::submit<make_one_way>(plait::on_rank(r)).get(), "can't be read", std::range_error);
    }
    co_return;
  });
}

RANKS_CASE("an argument that can't be written is an exception of submit, one that can't be read of the future") {
  rt.run([]() -> plait::task<void> {
    CHECK(co_await plait::submit<take_refusing>(plait::on_rank(0), refuses(5)) == 5);
    for (int r = 1; r < plait::size(); ++r) {
      CHECK_THROWS_WITH_AS(detach(plait::submit<take_refusing>(plait::on_rank(r), refuses(5))), "refuses to be written",
                           std::invalid_argument);
      CHECK_THROWS_WITH_AS(plait::submit<take_one_way>(plait::on_rank(r), one_way{1}).get(), "can't be read",
                           std::range_error);
    }
  });
}

RANKS_CASE("a task whose argument can't be written runs where it is, however much others want it") {
  rt.run([]() -> plait::task<void> {
    std::vector<plait::future<int>> all;
    for (int i = 0; i < 30; ++i) all.push_back(plait::submit<take_refusing>(refuses(i)));
    for (int i = 0; i < 30; ++i) {
      co_await plait::yield();
      CHECK(co_await all[static_cast<std::size_t>(i)] == i);
    }
  });
}

RANKS_CASE("an exception passes through several ranks") {
  rt.run([]() -> plait::task<void> {
    const int last = plait::size() - 1;
    auto f = plait::submit<outer>(plait::on_rank(last), last / 2);
    if (last == 0) {
      CHECK_THROWS_AS(co_await f, int);
    } else {
      try {
        co_await f;
        FAIL_CHECK("nothing was thrown");
      } catch (const plait::remote_error& e) {
        CHECK(e.rank() == last / 2);
        CHECK(e.type_name() == "int");
      }
    }
  });
}

RANKS_CASE("an exception that stays in its future is there for all who look") {
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) {
      auto f = plait::submit<fail_standard>(plait::on_rank(r), 5);
      f.wait();
      CHECK(f.exception() != nullptr);
      CHECK_THROWS_AS(f.result(), std::out_of_range);
      CHECK_THROWS_AS(co_await f, std::out_of_range);
    }
  });
}

RANKS_CASE("an exception that nobody can see any more goes to the handler with the task's name") {
  static plait_test::unobserved_log* log = nullptr;
  const auto collect = [&rt] {  // every rank of the loopback shares a handler, so one of them installs it
    return plait_test::under_mpi() || rt.rank() == 0;
  };
  if (collect()) log = new plait_test::unobserved_log;
  rt.node().transport().barrier();
  rt.run([]() -> plait::task<void> {
    for (int r = 0; r < plait::size(); ++r) detach(plait::submit<fail_standard>(plait::on_rank(r), 0));
    for (int r = 0; r < plait::size(); ++r) detach(plait::submit<fail_custom>(plait::on_rank(r)));
    co_return;
  });
  // Reported by the rank that submitted.
  if (rt.rank() == 0) {
    const auto lines = log->take();
    CHECK(lines.size() == 2 * static_cast<std::size_t>(rt.size()));
    int standard = 0;
    int own = 0;
    for (const auto& line : lines) {
      standard += line.find("std::runtime_error: text") != std::string::npos ? 1 : 0;
      own += line.find("fail_custom") != std::string::npos ? 1 : 0;
    }
    CHECK(standard == rt.size());
    CHECK(own == rt.size());
  } else if (plait_test::under_mpi()) {
    CHECK(log->take().empty());
  }
  rt.node().transport().barrier();
  if (collect()) delete std::exchange(log, nullptr);
}

}  // namespace exceptions_cases
