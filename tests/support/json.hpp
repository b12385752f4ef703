// SPDX-License-Identifier: BSL-1.0
#pragma once

// JSON (RFC 8259) as a tree, for what the library writes. Throws std::runtime_error where a text is none.

#include <cstddef>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace plait_test {

struct json {
  enum class kind { null, boolean, number, text, list, object };
  kind is = kind::null;
  double number = 0;
  std::string text;
  std::vector<json> list;
  std::map<std::string, json> members;

  bool has(const std::string& name) const { return members.count(name) != 0; }
  const json& operator[](const std::string& name) const { return members.at(name); }

  static json parse(std::string_view all) {
    parser p{all};
    json value = p.value();
    p.skip();
    if (!p.rest.empty()) p.fail("something after the end");
    return value;
  }

 private:
  struct parser {
    std::string_view rest;

    [[noreturn]] void fail(const char* what) const {
      throw std::runtime_error(std::string("no JSON: ") + what + " before '" + std::string(rest.substr(0, 40)) + "'");
    }
    void skip() {
      while (!rest.empty() && std::string_view(" \t\r\n").find(rest[0]) != std::string_view::npos)
        rest.remove_prefix(1);
    }
    bool take(char c) {
      skip();
      if (rest.empty() || rest[0] != c) return false;
      rest.remove_prefix(1);
      return true;
    }
    void expect(char c) {
      if (!take(c)) fail("something is missing");
    }
    json value() {
      skip();
      json v;
      if (rest.empty()) fail("it ends");
      if (take('{')) {
        v.is = kind::object;
        if (take('}')) return v;
        do {
          auto name = quoted();
          expect(':');
          if (!v.members.emplace(name, value()).second) fail("a name twice");
        } while (take(','));
        expect('}');
      } else if (take('[')) {
        v.is = kind::list;
        if (take(']')) return v;
        do v.list.push_back(value());
        while (take(','));
        expect(']');
      } else if (rest[0] == '"') {
        v.is = kind::text;
        v.text = quoted();
      } else if (rest.starts_with("true") || rest.starts_with("false")) {
        v.is = kind::boolean;
        v.number = rest[0] == 't' ? 1 : 0;
        rest.remove_prefix(rest[0] == 't' ? 4 : 5);
      } else if (rest.starts_with("null")) {
        rest.remove_prefix(4);
      } else {
        const std::string copy(rest.substr(0, 64));
        char* end = nullptr;
        v.is = kind::number;
        v.number = std::strtod(copy.c_str(), &end);
        if (end == copy.c_str() || (copy[0] != '-' && (copy[0] < '0' || copy[0] > '9'))) fail("no value");
        rest.remove_prefix(static_cast<std::size_t>(end - copy.c_str()));
      }
      return v;
    }
    std::string quoted() {
      expect('"');
      std::string s;
      for (;;) {
        if (rest.empty()) fail("a text does not end");
        const char c = rest[0];
        rest.remove_prefix(1);
        if (c == '"') return s;
        if (static_cast<unsigned char>(c) < 0x20) fail("a control character");
        if (c != '\\') {
          s += c;
          continue;
        }
        if (rest.empty()) fail("a text does not end");
        const char what = rest[0];
        rest.remove_prefix(1);
        if (what == 'u') {
          if (rest.size() < 4) fail("a short escape");
          const auto code = std::strtoul(std::string(rest.substr(0, 4)).c_str(), nullptr, 16);
          rest.remove_prefix(4);
          s += code < 0x80 ? static_cast<char>(code) : '?';
        } else if (std::string_view("\"\\/bfnrt").find(what) != std::string_view::npos) {
          s += what;
        } else {
          fail("an unknown escape");
        }
      }
    }
  };
};

}  // namespace plait_test
