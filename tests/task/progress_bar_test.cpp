// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <plait/core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace progress_bar_cases {

using plait::progress_bar;
using plait::progress_options;
using plait::progress_style;
using plait::detail::progress_state;

/// A file, and what was written to it.
class paper {
 public:
  paper() : file_(std::tmpfile()) { REQUIRE(file_ != nullptr); }
  paper(const paper&) = delete;
  paper& operator=(const paper&) = delete;
  ~paper() { std::fclose(file_); }
  std::FILE* file() const { return file_; }
  std::string text() const {
    std::rewind(file_);
    std::string all;
    for (int c = 0; (c = std::fgetc(file_)) != EOF;) all.push_back(static_cast<char>(c));
    return all;
  }

 private:
  std::FILE* file_;
};

/// The environment variable has this value until the scope ends; null: it is not there.
class setting {
 public:
  explicit setting(const char* value) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;
  ~setting() { before_ ? ::setenv(name, before_->c_str(), 1) : ::unsetenv(name); }

 private:
  static constexpr const char* name = "PLAIT_PROGRESS";
  std::optional<std::string> before_;
};

std::string as_line(const progress_state& s) { return plait::detail::progress_line(s).c_str(); }
std::string as_bar(const progress_state& s, std::size_t columns) {
  return plait::detail::progress_bar_line(s, columns).c_str();
}

TEST_CASE("a line of progress has the count, the part, the rate and the time that is left") {
  CHECK(as_line({"runs", 450, 1000, 3.75}) == "runs: 450 of 1000 (45 %), 120/s, 4.6 s left");
  CHECK(as_line({"", 0, 8, 2}) == "0 of 8 (0 %), -/s, - left");
  CHECK(as_line({"", 1, 8, 12}) == "1 of 8 (12 %), 12 s each, 1:24 left");
  CHECK(as_line({"", 3, 9, 2}) == "3 of 9 (33 %), 1.5/s, 4.0 s left");
  CHECK(as_line({"", 1, 1000, 100}) == "1 of 1000 (0 %), 1:40 each, 27:45:00 left");
  CHECK(as_line({"", 8, 8, 61}) == "8 of 8 (100 %), 7.6 s each, in 1:01");
}

TEST_CASE("a line of progress whose total is not known has no part") {
  CHECK(as_line({"seen", 12, 0, 4}) == "seen: 12, 3.0/s, in 4.0 s");
  CHECK(as_bar({"seen", 12, 0, 4}, 80) == "seen: 12, 3.0/s, in 4.0 s");
}

TEST_CASE("control characters of a label do not reach the terminal") {
  CHECK(as_line({"a\n\x1b[2J\x7f", 1, 1, 1}) == "a  [2J : 1 of 1 (100 %), 1.0/s, in 1.0 s");
  CHECK(as_line({"\xc3\xa4", 1, 1, 1}) == "\xc3\xa4: 1 of 1 (100 %), 1.0/s, in 1.0 s");
}

TEST_CASE("a bar fills the line but its last column, in proportion") {
  const auto half = as_bar({"x", 5, 10, 5}, 60);
  CHECK(half == "x: 50 % [############             ] 5/10, 1.0/s, 5.0 s left");
  CHECK(half.size() == 59);
  CHECK(as_bar({"x", 10, 10, 5}, 50) == "x: 100 % [###############] 10/10, 2.0/s, in 5.0 s");
  CHECK(as_bar({"x", 11, 10, 5}, 50).find("x: 100 % [#") == 0);
}

TEST_CASE("where there is no room for a bar there is the start of the line") {
  CHECK(as_bar({"x", 5, 10, 5}, 30) == "x: 5 of 10 (50 %), 1.0/s, 5.0");
  CHECK(as_bar({"x", 5, 10, 5}, 1).find("x: 5 of 10") == 0);  // no such terminal
}

TEST_CASE("into a file go lines, the last of them when all is done, once") {
  const setting none(nullptr);
  const paper out;
  {
    progress_bar bar(3, {.label = "steps", .out = out.file()});
    bar.advance();
    bar.advance(2);
    CHECK(out.text().find("steps: 3 of 3 (100 %), ") == 0);
  }
  const auto text = out.text();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("a bar that ends before all is done says how far it came") {
  const paper out;
  {
    progress_bar bar(4, {.style = progress_style::lines, .out = out.file()});
    bar.advance();
  }
  CHECK(out.text().find("1 of 4 (25 %), ") == 0);
}

TEST_CASE("a quiet bar writes nothing") {
  const paper out;
  { progress_bar(2, {.style = progress_style::quiet, .out = out.file()}).advance(2); }
  const setting off("off");
  { progress_bar(2, {.out = out.file()}).advance(2); }
  CHECK(out.text().empty());
}

TEST_CASE("PLAIT_PROGRESS chooses between bar, lines and nothing, and another value is an error") {
  const paper out;
  {
    const setting bar("bar");
    progress_bar(2, {.out = out.file()}).advance(2);
  }
  CHECK(out.text().find("\r100 % [###") == 0);
  const setting wrong("loud");
  CHECK_THROWS_WITH_AS(progress_bar(2, {.out = out.file()}),
                       "plait: the environment variable PLAIT_PROGRESS is 'loud'; accepted is auto, bar, lines or off",
                       plait::error);
}

TEST_CASE("on a terminal there is a bar as wide as it is, and its line ends") {
  const setting none(nullptr);
  int master = -1, slave = -1;
  winsize size{};
  size.ws_col = 57;
  size.ws_row = 20;
  REQUIRE(::openpty(&master, &slave, nullptr, nullptr, &size) == 0);
  const char* kind = std::getenv("TERM");
  const std::string before = kind != nullptr ? kind : "";
  ::setenv("TERM", "xterm", 1);
  std::FILE* out = ::fdopen(slave, "w");
  REQUIRE(out != nullptr);
  { progress_bar(2, {.label = "on", .out = out}).advance(1); }
  { progress_bar(1, {.label = "off", .out = out}).advance(1); }
  std::string seen;
  while (std::count(seen.begin(), seen.end(), '\n') < 2) {  // the time limit of the case ends it otherwise
    char some[4096];
    const auto n = ::read(master, some, sizeof some);
    if (n > 0) seen.append(some, static_cast<std::size_t>(n));
  }
  std::fclose(out);
  ::close(master);
  kind != nullptr ? ::setenv("TERM", before.c_str(), 1) : ::unsetenv("TERM");
  const auto first = seen.substr(0, seen.find('\n'));
  CHECK(first.find("\ron: 50 % [#") == 0);
  CHECK(first.size() == 1 + 56 + 3 + 1);  // the terminal adds a carriage return
  CHECK(seen.find("\roff: 100 % [###") != std::string::npos);
  CHECK(seen.back() == '\n');
}

TEST_CASE("a bar counts the futures of a range as they end, also those that fail") {
  const paper out;
  plait::pool p({.workers = 2});
  std::vector<plait::future<int>> futures;
  for (int i = 0; i < 20; ++i) {
    futures.push_back(p.spawn([i] {
      if (i == 7) throw std::runtime_error("seven");
      return i;
    }));
  }
  {
    progress_bar bar(futures, {.label = "all", .style = progress_style::lines, .out = out.file()});
    for (auto& f : futures) f.wait();
  }
  CHECK(out.text().find("all: 20 of 20 (100 %), ") == 0);
  CHECK_THROWS_AS(futures[7].get(), std::runtime_error);
}

TEST_CASE("a bar watches single futures and shared ones, and an empty future is an error that counts nothing") {
  const paper out;
  plait::pool p({.workers = 2});
  auto one = p.spawn([] { return 1; });
  auto two = p.spawn([] { return 2; }).share();
  {
    progress_bar bar(0, {.style = progress_style::lines, .out = out.file()});
    bar.watch(one);
    bar.watch(two);
    CHECK_THROWS_AS(bar.watch(plait::future<int>()), plait::error);
    one.wait();
    two.wait();
  }
  const auto text = out.text();
  CHECK(text.find("2 of 2 (100 %), ") != std::string::npos);
}

TEST_CASE("futures may end after the bar that watches them") {
  const paper out;
  plait::pool p({.workers = 1});
  plait::promise<int> gate;
  auto f = gate.get_future();
  { progress_bar(0, {.style = progress_style::lines, .out = out.file()}).watch(f); }
  gate.set_value(1);
  CHECK(f.get() == 1);
  CHECK(out.text().find("0 of 1 (0 %), ") == 0);
  CHECK(out.text().find("1 of 1") == std::string::npos);
}

TEST_CASE("threads may advance a bar at once") {
  const paper out;
  {
    progress_bar bar(4000, {.style = progress_style::bar, .out = out.file()});
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&bar] {
        for (int k = 0; k < 1000; ++k) bar.advance();
      });
    }
    for (auto& t : all) t.join();
  }
  const auto text = out.text();
  CHECK(text.find("] 4000/4000, ") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

}  // namespace progress_bar_cases
